import Configuration
import Hummingbird
import JWTKit
import NIOHTTP1
import ServiceLifecycle
import Yams
enum Stub {}
