// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v15)],
    // Without the trait `Server`, which is on by default: only the client and its network for Linux are fetched and built. On
    // Apple's platforms, where the client uses the system's network, write `traits: []`.
    dependencies: [.package(name: "rollcall", path: "../..", traits: ["NIO"])],
    targets: [
        .executableTarget(
            name: "chat", dependencies: [.product(name: "RollcallClient", package: "rollcall")], path: "Sources")
    ]
)
