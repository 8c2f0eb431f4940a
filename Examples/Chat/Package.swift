// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v15)],
    // Without the trait `Server`, which is on by default: only the client is resolved, fetched and built.
    dependencies: [.package(name: "rollcall", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "chat", dependencies: [.product(name: "RollcallClient", package: "rollcall")], path: "Sources")
    ]
)
