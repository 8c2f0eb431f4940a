// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../rollcall")],
    targets: [
        .executableTarget(name: "chat", dependencies: [.product(name: "RollcallClient", package: "rollcall")])
    ]
)
