// Files that change, and files that cannot be used at first.

import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import RollcallServer

@Suite("Watched files")
struct FileWatchTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// A watch that has read the file.
    private func watch(_ file: URL) -> FileWatch {
        var watch = FileWatch([file.path])
        let isFirst = watch.hasChanged()
        #expect(isFirst)
        watch.take()
        let isSecond = watch.hasChanged()
        #expect(!isSecond)
        return watch
    }

    @Test("a change is reported at each check until it is accepted, since a file may be unreadable for a moment")
    func untilTaken() throws {
        let file = try folder.file("secret", "one")
        var watch = watch(file)
        try folder.file("secret", "other")
        let looks = (0..<4).map { _ in watch.hasChanged() }
        #expect(looks == [false, true, true, true], "the first check waits until the file has stopped changing")
        watch.take()
        let after = watch.hasChanged()
        #expect(!after)
    }

    @Test("a change between the check and the reading is reported at a later check")
    func whileReading() throws {
        let file = try folder.file("secret", "one")
        var watch = watch(file)
        try folder.file("secret", "other")
        _ = watch.hasChanged()
        _ = watch.hasChanged()
        try folder.file("secret", "a third")
        watch.take()
        let later = (0..<2).map { _ in watch.hasChanged() }
        #expect(later == [false, true])
    }

    @Test("a file that becomes readable counts as changed")
    func mode() throws {
        let file = try folder.file("secret", "one")
        #expect(chmod(file.path, 0o200) == 0)
        var watch = watch(file)
        #expect(chmod(file.path, 0o600) == 0)
        let isReadable = (0..<2).map { _ in watch.hasChanged() }
        #expect(isReadable == [false, true])
    }

    /// Regression: a secret that briefly belonged to another user, or a file that could not be opened, was never read
    /// again.
    @Test("an unusable file is read again until it is usable, is reported once, and the last good value stays")
    func followed() throws {
        let reports = NIOLockedValueBox<[String]>([])
        let looks = NIOLockedValueBox(0)
        let file = try folder.file("secret", "one")
        let followed = FollowedFiles(
            [("a.key", file.path)], value: "zero",
            parse: { contents throws(UnusableFile) in
                let count = looks.withLockedValue { looks in
                    looks += 1
                    return looks
                }
                if count <= 2 { throw UnusableFile("a.key", "this process may not read the file") }
                return String(decoding: contents[0], as: UTF8.self)
            },
            report: { result, isFirst in
                reports.withLockedValue { $0.append("\(isFirst) \((try? result.get()) ?? "unusable")") }
            })
        for value in ["zero", "zero", "one", "one"] {
            followed.look()
            #expect(followed.value == value)
        }
        #expect(looks.withLockedValue { $0 } == 3, "a file that has not changed is not read again")
        try folder.file("secret", "another")
        followed.look()
        #expect(followed.value == "one", "a change counts at the second look")
        followed.look()
        try FileManager.default.removeItem(at: file)
        (0..<2).forEach { _ in followed.look() }
        #expect(followed.value == "another")
        #expect(reports.withLockedValue { $0 } == ["true unusable", "false one", "false another", "false unusable"])
    }

    @Test("a persistent problem is logged once a minute, and a new one at once")
    func problems() {
        let start = ContinuousClock.now
        var problem = RepeatedProblem()
        let logged = (0..<180).filter { problem.occurred("unreadable", at: start + .seconds($0)) }
        #expect(logged == [0, 60, 120])
        let isOther = problem.occurred("broken", at: start + .seconds(180))
        #expect(isOther)
        problem.ended()
        let isAgain = problem.occurred("broken", at: start + .seconds(181))
        #expect(isAgain)
    }
}
