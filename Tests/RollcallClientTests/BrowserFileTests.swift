import Foundation
import RollcallBrowser
import Testing

@Suite("The files of the module for browsers")
struct BrowserFileTests {
    @Test("are those of the folder")
    func files() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/RollcallBrowser/Module").standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(BrowserFile.all.map(\.name) == names)
        for file in BrowserFile.all {
            #expect(try Data(contentsOf: folder.appending(path: file.name)) == Data(file.bytes), "\(file.name)")
        }
    }
}
