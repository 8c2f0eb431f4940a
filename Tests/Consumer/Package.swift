// swift-tools-version: 6.2
import PackageDescription

// An app that uses the client alone. It must build where hiredis is not installed: `Tests/consumer.sh` sees to that.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "rollcall", path: "../..")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [.product(name: "RollcallClient", package: "rollcall")]
        )
    ]
)
