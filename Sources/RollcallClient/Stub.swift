import NIOSSL
import NIOWebSocket
enum Stub {}
