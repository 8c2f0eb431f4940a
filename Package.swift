// swift-tools-version: 6.2
import PackageDescription

// Which package each product of others comes from. What is not listed here is a target of this package.
let packageOfProduct = [
    "ArgumentParser": "swift-argument-parser",
    "AsyncHTTPClient": "async-http-client",
    "Configuration": "swift-configuration",
    "Crypto": "swift-crypto",
    "DequeModule": "swift-collections",
    "HeapModule": "swift-collections",
    "Histogram": "hdrhistogram-swift",
    "Hummingbird": "hummingbird",
    "HummingbirdTesting": "hummingbird",
    "JWTKit": "jwt-kit",
    "Logging": "swift-log",
    "Metrics": "swift-metrics",
    "MetricsTestKit": "swift-metrics",
    "NIOConcurrencyHelpers": "swift-nio",
    "NIOCore": "swift-nio",
    "NIOEmbedded": "swift-nio",
    "NIOHTTP1": "swift-nio",
    "NIOPosix": "swift-nio",
    "NIOSSL": "swift-nio-ssl",
    "NIOTLS": "swift-nio",
    "NIOWebSocket": "swift-nio",
    "ServiceLifecycle": "swift-service-lifecycle",
    "UnixSignals": "swift-service-lifecycle",
    "Yams": "Yams",
]

func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { name in packageOfProduct[name].map { .product(name: name, package: $0) } ?? .byName(name: name) }
}

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// CI sets `ROLLCALL_STRICT`, which makes warnings errors. Without it, a newer compiler's warnings do not stop a build.
let strict: [SwiftSetting] =
    Context.environment["ROLLCALL_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

func library(
    _ name: String, uses: [String] = [], path: String? = nil, exclude: [String] = [], embeds: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies(uses), path: path, exclude: exclude,
        resources: embeds.isEmpty ? nil : embeds.map { .embedInCode($0) }, swiftSettings: swiftSettings + strict)
}

func program(
    _ name: String, uses: [String] = [], path: String? = nil, exclude: [String] = [], embeds: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(uses), path: path, exclude: exclude,
        resources: embeds.isEmpty ? nil : embeds.map { .embedInCode($0) }, swiftSettings: swiftSettings + strict)
}

func tests(_ name: String, uses: [String], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies(uses), exclude: exclude, swiftSettings: swiftSettings + strict)
}

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
    ]
)

// What ships.
package.targets += [
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    .target(name: "CPoller"),
    library("RollcallModel"),
    library("RollcallCore", uses: ["RollcallModel", "HeapModule"]),
    library(
        "RollcallRedis", uses: ["CHiredis", "RollcallModel", "Logging", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS"],
        embeds: ["Scripts"]),
    .target(
        name: "RollcallWorker",
        dependencies: dependencies([
            "RollcallCore", "RollcallModel", "RollcallRedis", "AsyncHTTPClient", "Configuration", "Crypto",
            "Hummingbird", "JWTKit", "Logging", "Metrics", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix",
            "NIOSSL", "NIOWebSocket", "ServiceLifecycle", "Yams",
        ]),
        path: "Sources",
        sources: [
            "RollcallAdmin", "RollcallConfiguration", "RollcallDoctor", "RollcallEdge", "RollcallListener",
            "RollcallShards", "RollcallWorker",
        ],
        resources: [.embedInCode("RollcallAdmin/Live"), .embedInCode("RollcallAdmin/Resources/openapi.yaml")],
        swiftSettings: swiftSettings + strict),
    library(
        "RollcallClient",
        uses: [
            "RollcallModel", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS",
            "NIOWebSocket",
        ],
        embeds: ["Text/words.json"]),
    library("RollcallBrowser", exclude: ["JavaScript"], embeds: ["Module"]),
    library(
        "RollcallNode",
        uses: [
            "RollcallClient", "RollcallModel", "RollcallWorker", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "NIOPosix", "ServiceLifecycle",
        ]),
    library(
        "RollcallTesting",
        uses: ["RollcallClient", "RollcallModel", "NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded"]),
    library("RollcallLoad", uses: ["CPoller", "RollcallClient", "RollcallModel", "HeapModule", "Histogram"]),
    library("RollcallTerminal", uses: ["RollcallClient", "RollcallModel"]),
    library("Spawning"),
    program(
        "rollcall",
        uses: [
            "RollcallBrowser", "RollcallClient", "RollcallLoad", "RollcallModel", "RollcallTerminal", "RollcallWorker",
            "Spawning", "ArgumentParser", "Hummingbird", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
            "ServiceLifecycle", "UnixSignals",
        ],
        embeds: ["Demo"]),
    program("rooms", uses: ["RollcallNode", "Hummingbird"], path: "Examples/Rooms"),
]

// What tests share.
package.targets += [
    library("TestSupport", uses: ["Spawning"], path: "Tests/TestSupport", exclude: ["Clock/settable_clock.c"]),
    library("RedisTwin", uses: ["RollcallCore", "RollcallModel"], path: "Tests/RedisTwin"),
    library("FoundationCodec", uses: ["RollcallModel"], path: "Tests/FoundationCodec"),
    library(
        "Harness",
        uses: ["RollcallClient", "RollcallModel", "TestSupport", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix"],
        path: "Tests/Harness"),
]

// Unit tests.
package.targets += [
    tests(
        "RollcallModelTests", uses: ["FoundationCodec", "RollcallModel", "TestSupport"],
        exclude: ["golden-frames.json"]),
    tests("RollcallCoreTests", uses: ["RedisTwin", "RollcallCore", "RollcallModel", "TestSupport"]),
    tests(
        "RollcallRedisTests",
        uses: [
            "RedisTwin", "RollcallCore", "RollcallModel", "RollcallRedis", "TestSupport", "Logging", "NIOCore",
            "NIOEmbedded", "NIOPosix", "NIOSSL",
        ]),
    tests(
        "RollcallWorkerTests",
        uses: [
            "RollcallCore", "RollcallModel", "RollcallRedis", "RollcallWorker", "TestSupport", "Hummingbird",
            "HummingbirdTesting", "JWTKit", "Logging", "Metrics", "NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded",
            "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "ServiceLifecycle", "Yams",
        ]),
    tests(
        "RollcallClientTests",
        uses: [
            "RollcallClient", "RollcallModel", "TestSupport", "NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded",
            "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOWebSocket",
        ],
        exclude: ["Text/golden.json"]),
    tests("RollcallTestingTests", uses: ["RollcallTesting"]),
    tests("RollcallLoadTests", uses: ["RollcallClient", "RollcallLoad", "RollcallModel", "TestSupport"]),
    tests("RollcallTerminalTests", uses: ["RollcallClient", "RollcallModel", "RollcallTerminal", "TestSupport"]),
    tests(
        "RollcallNodeTests",
        uses: [
            "RollcallModel", "RollcallNode", "TestSupport", "rooms", "Metrics", "MetricsTestKit",
            "NIOConcurrencyHelpers", "ServiceLifecycle",
        ]),
]

// Suites that are programs too, each with tests of its own.
package.targets += [
    library(
        "Simulation",
        uses: [
            "RedisTwin", "RollcallClient", "RollcallCore", "RollcallModel", "TestSupport", "DequeModule", "HeapModule",
            "NIOCore",
        ],
        path: "Tests/Simulation"),
    program("simulate", uses: ["Simulation", "ArgumentParser"], path: "Tests/Simulate"),
    tests("SimulationTests", uses: ["Harness", "Simulation"]),
    library(
        "FaultSuite",
        uses: [
            "Harness", "RollcallClient", "TestSupport", "Crypto", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix",
        ],
        path: "Tests/FaultSuite"),
    program("faults", uses: ["FaultSuite", "TestSupport", "ArgumentParser"], path: "Tests/Faults"),
    tests(
        "FaultSuiteTests",
        uses: [
            "FaultSuite", "Harness", "RollcallClient", "TestSupport", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix",
        ]),
    library(
        "AttackSuite", uses: ["Harness", "TestSupport", "Crypto", "NIOConcurrencyHelpers", "NIOCore"],
        path: "Tests/AttackSuite"),
    program("attacks", uses: ["AttackSuite", "ArgumentParser"], path: "Tests/Attacks"),
    .target(name: "CHeap", path: "Tests/CHeap"),
    program(
        "views", uses: ["CHeap", "Harness", "RollcallClient", "TestSupport", "ArgumentParser"], path: "Tests/Views"),
    tests(
        "IntegrationTests",
        uses: [
            "AttackSuite", "FaultSuite", "Harness", "RollcallBrowser", "RollcallClient", "RollcallModel",
            "RollcallWorker", "TestSupport", "rollcall", "views", "NIOCore",
        ]),
]

// The code in the documentation, compiled with the settings of an app that has chosen none.
package.targets += [
    library("Snippets", path: "Tests/Snippets/Reading"),
    program("snip", uses: ["Snippets"], path: "Tests/Snippets/Tool"),
    .plugin(
        name: "SnippetsPlugin", capability: .buildTool(), dependencies: ["snip"], path: "Tests/Snippets/Plugin"),
    .testTarget(
        name: "DocumentationTests",
        dependencies: dependencies([
            "RollcallClient", "RollcallNode", "RollcallTesting", "Snippets", "TestSupport", "Hummingbird",
        ]),
        plugins: ["SnippetsPlugin"]),
]

// Benchmarks.
package.targets += [
    .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
    program(
        "micro-bench",
        uses: [
            "CAllocations", "RedisTwin", "RollcallClient", "RollcallCore", "RollcallModel", "RollcallRedis",
            "RollcallWorker", "ArgumentParser", "Logging", "NIOCore", "NIOEmbedded",
        ],
        path: "Benchmarks/Micro", exclude: ["allocations.txt"]),
    program("crowd-bench", uses: ["RollcallCore", "RollcallModel"], path: "Benchmarks/Crowd"),
]

// These ask Linux what processes cost, and wait with epoll.
#if os(Linux)
    package.targets += [
        .executableTarget(
            name: "floor", dependencies: ["CHiredis"], path: "Benchmarks/Floor",
            linkerSettings: [.linkedLibrary("hiredis")]),
        program(
            "bench",
            uses: [
                "Harness", "RollcallClient", "RollcallLoad", "RollcallModel", "RollcallRedis", "RollcallWorker",
                "TestSupport", "ArgumentParser",
            ],
            path: "Benchmarks/Suite"),
    ]
#endif

// Not every compiler comes with the fuzzer's runtime. Tests/fuzz.sh looks for it, and sets this.
if Context.environment["ROLLCALL_FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test || $0.type == .plugin }
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        program(
            "fuzz",
            uses: [
                "CFuzzer", "FoundationCodec", "RedisTwin", "RollcallCore", "RollcallModel", "RollcallRedis",
                "RollcallWorker", "TestSupport", "NIOCore",
            ],
            path: "Tests/Fuzz/Targets"),
    ]
}
