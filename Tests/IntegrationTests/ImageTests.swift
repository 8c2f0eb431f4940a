// What can be said of the image without building it.

import Foundation
import Testing

@Suite("The image")
struct ImageTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test("copies every folder that the package's description names: without one of them nothing can be built")
    func folders() throws {
        let package = try String(contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
        let image = try String(contentsOf: Self.package.appending(path: "Dockerfile"), encoding: .utf8)
        let named = Set(package.matches(of: /path: "([^\/"]+)\//).map(\.1))
        #expect(named.isSuperset(of: ["Benchmarks", "Tests"]))
        for folder in named.union(["Sources"]) { #expect(image.contains("COPY \(folder) \(folder)\n"), "\(folder)") }
    }
}
