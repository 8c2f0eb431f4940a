"""An AsyncAPI document, as far as the tests need it: its messages, each with the schema of its payload."""

import jsonschema
import yaml

from deployment import ROOT


class Document:
    def __init__(self, name):
        self.tree = yaml.safe_load((ROOT / "docs" / name).read_text())
        self.validators = {
            name: jsonschema.Draft202012Validator(
                {**self.tree, "$ref": f"#/components/messages/{name}/payload"})
            for name in self.tree["components"]["messages"]
        }

    def of(self, operation):
        """The names of the messages of an operation, or else of a channel."""
        found = self.tree["operations"].get(operation) or self.tree["channels"][operation]
        messages = found["messages"]
        references = messages if isinstance(messages, list) else messages.values()
        return [reference["$ref"].rsplit("/", 1)[1] for reference in references]

    def kinds(self, message, operation):
        """Returns which of an operation's messages this may be."""
        return [name for name in self.of(operation) if self.validators[name].is_valid(message)]

    def complaint(self, message, operation):
        """Returns why it is none of them."""
        return {name: [error.message for error in self.validators[name].iter_errors(message)]
                for name in self.of(operation)}
