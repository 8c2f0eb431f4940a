// swift-tools-version: 6.2
import PackageDescription

let node = Target.Dependency.product(name: "RollcallNode", package: "rollcall")

let package = Package(
    name: "servers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "rollcall", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(name: "last-seen", dependencies: [node], path: "Sources/LastSeen"),
        .executableTarget(
            name: "rooms", dependencies: [node, .product(name: "Hummingbird", package: "hummingbird")],
            path: "Sources/Rooms"),
    ]
)
