// swift-tools-version: 6.2
import PackageDescription

// An application that uses only the client. It must build without hiredis, which `Tests/consumer.sh` checks.
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
