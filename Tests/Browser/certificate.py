"""Creates a certificate for this machine with OpenSSL, as operators do."""

import base64
import hashlib
import subprocess


def openssl(*arguments, **options):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, **options).stdout


class Certificate:
    def __init__(self, folder):
        self.chain, self.key = folder / "certificate.pem", folder / "key.pem"
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-keyout", self.key, "-out", self.chain)

    @property
    def hash(self):
        """The hash of its public key, as Chromium's flag expects it."""
        public = openssl("pkey", "-in", self.key, "-pubout", "-outform", "der")
        return base64.b64encode(hashlib.sha256(public).digest()).decode()
