// swift-tools-version: 6.2
import PackageDescription

/// Warnings stop a build where `ROLLCALL_STRICT` is set (CI); a newer compiler's new warning never stops a user's.
let strict: [SwiftSetting] =
    Context.environment["ROLLCALL_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + strict

let package = Package(
    name: "rollcall",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "RollcallBrowser", targets: ["RollcallBrowser"]),
        .library(name: "RollcallClient", targets: ["RollcallClient"]),
        .library(name: "RollcallNode", targets: ["RollcallNode"]),
        .library(name: "RollcallTesting", targets: ["RollcallTesting"]),
        .library(name: "RollcallWorker", targets: ["RollcallWorker"]),
        .executable(name: "rollcall", targets: ["rollcall"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CHiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .target(name: "CPoller"),
        .target(
            name: "RollcallModel",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallCore",
            dependencies: [
                "RollcallModel",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallRedis",
            dependencies: [
                "CHiredis",
                "RollcallModel",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            resources: [.embedInCode("Scripts")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallWorker",
            dependencies: [
                "RollcallCore",
                "RollcallModel",
                "RollcallRedis",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            resources: [.embedInCode("Live"), .embedInCode("Resources/openapi.yaml")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallClient",
            dependencies: [
                "RollcallModel",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            resources: [.embedInCode("Text/words.json")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallBrowser",
            resources: [.embedInCode("Module")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallNode",
            dependencies: [
                "RollcallClient",
                "RollcallModel",
                "RollcallWorker",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallTesting",
            dependencies: [
                "RollcallClient",
                "RollcallModel",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallLoad",
            dependencies: [
                "CPoller", "RollcallClient", "RollcallModel",
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RollcallTerminal",
            dependencies: ["RollcallClient", "RollcallModel"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "rollcall",
            dependencies: [
                "RollcallBrowser",
                "RollcallClient",
                "RollcallLoad",
                "RollcallModel",
                "RollcallTerminal",
                "RollcallWorker",
                "Spawning",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Demo")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Spawning",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["Spawning"],
            path: "Tests/TestSupport",
            exclude: ["Clock/settable_clock.c"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RedisTwin",
            dependencies: ["RollcallCore", "RollcallModel"],
            path: "Tests/RedisTwin",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Simulation",
            dependencies: [
                "RedisTwin", "RollcallClient", "RollcallCore", "RollcallModel", "TestSupport",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Simulation",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FoundationCodec",
            dependencies: ["RollcallModel"],
            path: "Tests/FoundationCodec",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "rooms",
            dependencies: ["RollcallNode", .product(name: "Hummingbird", package: "hummingbird")],
            path: "Examples/Rooms",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "Simulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Simulate",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["Harness", "Simulation"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallModelTests",
            dependencies: ["FoundationCodec", "RollcallModel", "TestSupport"],
            exclude: ["golden-frames.json"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallCoreTests",
            dependencies: ["RedisTwin", "RollcallCore", "RollcallModel", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallRedisTests",
            dependencies: [
                "RedisTwin", "RollcallCore", "RollcallModel", "RollcallRedis", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallWorkerTests",
            dependencies: [
                "RollcallCore", "RollcallModel", "RollcallRedis", "RollcallWorker", "TestSupport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallClientTests",
            dependencies: [
                "RollcallClient", "RollcallModel", "TestSupport",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            exclude: ["Text/golden.json"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallTestingTests",
            dependencies: ["RollcallTesting"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallLoadTests",
            dependencies: ["RollcallClient", "RollcallLoad", "RollcallModel", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallTerminalTests",
            dependencies: ["RollcallClient", "RollcallModel", "RollcallTerminal", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "RollcallNodeTests",
            dependencies: [
                "RollcallModel", "RollcallNode", "TestSupport", "rooms",
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Snippets",
            path: "Tests/Snippets/Reading",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "snip",
            dependencies: ["Snippets"],
            path: "Tests/Snippets/Tool",
            swiftSettings: swiftSettings
        ),
        .plugin(
            name: "SnippetsPlugin",
            capability: .buildTool(),
            dependencies: ["snip"],
            path: "Tests/Snippets/Plugin"
        ),
        // With the settings of an app that has chosen none, since that is where the snippets go.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "RollcallClient", "RollcallNode", "RollcallTesting", "Snippets", "TestSupport",
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            plugins: ["SnippetsPlugin"]
        ),
        .target(
            name: "Harness",
            dependencies: [
                "RollcallClient", "RollcallModel", "TestSupport",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Harness",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FaultSuite",
            dependencies: [
                "Harness", "RollcallClient", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/FaultSuite",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "faults",
            dependencies: [
                "FaultSuite", "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Faults",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "AttackSuite",
            dependencies: [
                "Harness", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/AttackSuite",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "attacks",
            dependencies: ["AttackSuite", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Tests/Attacks",
            swiftSettings: swiftSettings
        ),
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        .executableTarget(
            name: "micro-bench",
            dependencies: [
                "CAllocations", "RedisTwin", "RollcallClient", "RollcallCore", "RollcallModel", "RollcallRedis",
                "RollcallWorker",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Benchmarks/Micro",
            exclude: ["allocations.txt"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "crowd-bench",
            dependencies: ["RollcallCore", "RollcallModel"],
            path: "Benchmarks/Crowd",
            swiftSettings: swiftSettings
        ),
        .target(name: "CHeap", path: "Tests/CHeap"),
        .executableTarget(
            name: "views",
            dependencies: [
                "CHeap", "Harness", "RollcallClient", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Views",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FaultSuiteTests",
            dependencies: [
                "FaultSuite", "Harness", "RollcallClient", "TestSupport",
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "AttackSuite", "FaultSuite", "Harness", "RollcallBrowser", "RollcallClient", "RollcallModel",
                "RollcallWorker",
                "TestSupport",
                "rollcall", "views",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
    ]
)

// The fuzzer's runtime does not come with every compiler: Tests/fuzz.sh, which looks for it, sets this.
if Context.environment["ROLLCALL_FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test || $0.type == .plugin }
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", "FoundationCodec", "RedisTwin", "RollcallCore", "RollcallModel", "RollcallRedis",
                "RollcallWorker",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/Targets",
            swiftSettings: swiftSettings
        ),
    ]
}

// They ask Linux what processes cost, and wait by epoll.
#if os(Linux)
    package.targets += [
        .executableTarget(
            name: "floor",
            dependencies: ["CHiredis"],
            path: "Benchmarks/Floor",
            linkerSettings: [.linkedLibrary("hiredis")]
        ),
        .executableTarget(
            name: "bench",
            dependencies: [
                "Harness", "RollcallClient", "RollcallLoad", "RollcallModel", "RollcallRedis", "RollcallWorker",
                "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Suite",
            swiftSettings: swiftSettings
        ),
    ]
#endif
