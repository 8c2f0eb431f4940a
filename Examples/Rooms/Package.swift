// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "rooms",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "rollcall", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "rooms",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "RollcallNode", package: "rollcall"),
            ], path: "Sources")
    ]
)
