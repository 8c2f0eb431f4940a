// Adds the Swift code in README.md, in docs and in the documentation catalogs to the sources of a test target, one file
// for each page.

import Foundation
import PackagePlugin

@main struct SnippetsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let tool = try context.tool(named: "snip").url
        return try pages(under: root).map { page in
            let name = page.path.dropFirst(root.path.count + 1).replacing("/", with: "-")
            let output = context.pluginWorkDirectoryURL.appending(path: "\(name).swift")
            return .buildCommand(
                displayName: "Taking the snippets out of \(name)", executable: tool,
                arguments: [page.path, output.path], inputFiles: [page], outputFiles: [output])
        }
    }

    private func pages(under root: URL) throws -> [URL] {
        var pages = [root.appending(path: "README.md")]
        for folder in ["docs", "Sources"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            for case let file as URL in files ?? .init() where isPage(file) { pages.append(file) }
        }
        // An image may be built without the documentation.
        return pages.filter { FileManager.default.fileExists(atPath: $0.path) }.sorted { $0.path < $1.path }
    }

    private func isPage(_ file: URL) -> Bool {
        file.pathExtension == "md" || (file.pathExtension == "swift" && file.path.contains(".docc/"))
    }
}
