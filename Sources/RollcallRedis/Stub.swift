import CHiredis
import NIOCore
import NIOPosix
import Logging
enum Stub { static func f() { redisReaderFree(redisReaderCreateWithFunctions(nil)) } }
