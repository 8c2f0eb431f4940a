// Checks the container image without building it.

import Foundation
import Testing

@Suite("The container image")
struct ImageTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test("copies every folder that Package.swift names, without which the build would fail")
    func folders() throws {
        let package = try String(contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
        let image = try String(contentsOf: Self.package.appending(path: "Dockerfile"), encoding: .utf8)
        let named = Set(package.matches(of: /path: "([^\/"]+)\//).map(\.1))
        #expect(named.isSuperset(of: ["Benchmarks", "Tests"]))
        for folder in named.union(["Sources"]) { #expect(image.contains("COPY \(folder) \(folder)\n"), "\(folder)") }
    }
}
