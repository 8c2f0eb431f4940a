import Foundation
import Testing

@testable import RollcallRedis

@Suite struct HiredisTests {
    /// `Tests/hiredis-1x.sh` sets this variable to the version that it built, so that its run cannot use the system's
    /// hiredis by accident.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROLLCALL_HIREDIS_VERSION"] != nil))
    func `the hiredis that is tested is the one that was asked for`() throws {
        let environment = ProcessInfo.processInfo.environment
        #expect(Hiredis.version == environment["ROLLCALL_HIREDIS_VERSION"])
        #if os(Linux)
            let folder = try #require(environment["ROLLCALL_HIREDIS_FOLDER"])
            let handle = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
            let maps = String(decoding: try #require(try handle.readToEnd()), as: UTF8.self)
            let loaded = Set(
                maps.split(separator: "\n").compactMap { $0.split(separator: " ").last }
                    .filter { $0.contains("/libhiredis.") })
            #expect(loaded.count == 1)
            #expect(loaded.allSatisfy { $0.hasPrefix(folder + "/") }, "\(loaded)")
        #endif
    }
}
