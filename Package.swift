// swift-tools-version: 6.2
import PackageDescription

// What many targets use.
let core = ["RollcallCore", "RollcallProtocol", "TestSupport"]
let nio = ["NIOConcurrencyHelpers", "NIOCore", "NIOPosix"]
let sockets = nio + ["Logging", "NIOHTTP1", "NIOSSL"]
let worker = sockets + ["RollcallProtocol", "RollcallServer", "Metrics", "ServiceLifecycle"]

// The products of other packages. What is not listed here is a target of this package.
let productsOfPackages = [
    "Yams": ["Yams"], "hummingbird": ["Hummingbird", "HummingbirdCore"],
    "swift-argument-parser": ["ArgumentParser"], "swift-collections": ["DequeModule", "HeapModule"],
    "swift-crypto": ["Crypto", "CryptoExtras"], "swift-log": ["Logging"],
    "swift-metrics": ["Metrics", "MetricsTestKit"],
    "swift-nio": nio + ["NIOEmbedded", "NIOHTTP1", "NIOTLS", "NIOWebSocket"], "swift-nio-ssl": ["NIOSSL"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
]
let packageOfProduct = Dictionary(
    uniqueKeysWithValues: productsOfPackages.flatMap { package, products in products.map { ($0, package) } })

/// What a client on Linux takes with the trait `NIO`. With `traits: []`, an app fetches no package at all.
let packagesOfClient = ["swift-nio", "swift-nio-ssl"]

/// - Parameter onApple: false for a target that uses Apple's network instead of packages there, whatever the traits.
func dependencies(_ names: [String], onApple: Bool = true) -> [Target.Dependency] {
    Set(names).sorted().map { name in
        guard let package = packageOfProduct[name] else { return .byName(name: name) }
        let trait = packagesOfClient.contains(package) ? "NIO" : "Server"
        return .product(
            name: name, package: package,
            condition: onApple ? .when(traits: [trait]) : .when(platforms: [.linux], traits: [trait]))
    }
}

/// CI sets `ROLLCALL_STRICT`, which makes warnings errors. Without it, a newer compiler's warnings do not stop a build.
let settings: [SwiftSetting] =
    ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"].map { .enableUpcomingFeature($0) }
    + (Context.environment["ROLLCALL_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

func library(_ name: String, uses: [String] = [], path: String? = nil, exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies(uses), path: path, exclude: exclude, swiftSettings: settings)
}

func program(_ name: String, uses: [String], path: String? = nil, exclude: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(uses), path: path, exclude: exclude, swiftSettings: settings)
}

func tests(_ name: String, uses: [String], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies(uses), exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "rollcall",
    // For the client; everything else runs on Linux and macOS.
    platforms: [.macOS(.v15), .iOS(.v17), .tvOS(.v17), .visionOS(.v1)],
    products: [
        "RollcallBrowser", "RollcallClient", "RollcallNode", "RollcallTesting", "RollcallViews", "RollcallWorker",
    ].map { .library(name: $0, targets: [$0]) } + [.executable(name: "rollcall", targets: ["rollcall"])],
    traits: [
        "NIO", .trait(name: "Server", enabledTraits: ["NIO"]), .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    cLanguageStandard: .c2x  // For `#embed`, with which CModule, CPages, CScripts and CWords hold files.
)

// What ships.
package.targets += [
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    .target(name: "CModule"), .target(name: "CPages"), .target(name: "CScripts"), .target(name: "CWords"),
    library("RollcallProtocol"),
    library("RollcallCore", uses: ["RollcallProtocol", "DequeModule", "HeapModule"]),
    library(
        "RollcallRedis",
        uses: ["CHiredis", "CScripts", "RollcallProtocol", "Logging", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS"],
        exclude: ["Scripts"]),
    library(
        "RollcallServer",
        uses: sockets + ["RollcallCore", "RollcallProtocol", "RollcallRedis", "Crypto", "Metrics", "ServiceLifecycle"]),
    library(
        "RollcallWorker",
        uses: worker + [
            "CPages", "RollcallCore", "RollcallRedis", "Crypto", "CryptoExtras", "Hummingbird",
            "HummingbirdCore", "Yams",
        ], exclude: ["Live"]),
    .target(
        name: "RollcallClient",
        dependencies: dependencies(
            nio + ["CWords", "RollcallProtocol", "NIOHTTP1", "NIOSSL", "NIOTLS", "NIOWebSocket"], onApple: false),
        swiftSettings: settings),
    library("RollcallBrowser", uses: ["CModule"], exclude: ["Module"]),
    library(
        "RollcallNode",
        uses: nio + ["RollcallClient", "RollcallProtocol", "RollcallServer", "Logging", "ServiceLifecycle"]),
    library(
        "RollcallTesting", uses: ["RollcallClient", "RollcallProtocol"]),
    library("RollcallViews", uses: ["RollcallClient"]),
    library("Spawning"),
    program(
        "rollcall",
        uses: worker + [
            "CPages", "RollcallBrowser", "RollcallClient", "RollcallWorker", "Spawning", "ArgumentParser",
            "Hummingbird", "UnixSignals",
        ], exclude: ["Demo"]),
]

// Tests, and what they share.
package.targets += [
    library(
        "TestSupport", uses: ["Spawning"], path: "Tests/TestSupport",
        exclude: ["Certificates", "Clock/settable_clock.c"]),
    library("RedisTwin", uses: ["RollcallCore", "RollcallProtocol"], path: "Tests/RedisTwin"),
    library("FoundationCodec", uses: ["RollcallProtocol"], path: "Tests/FoundationCodec"),
    library(
        "Harness", uses: nio + ["RollcallClient", "RollcallProtocol", "TestSupport", "Crypto", "NIOHTTP1"],
        path: "Tests/Harness"),
    library(
        "Simulation", uses: core + ["RedisTwin", "RollcallClient", "DequeModule", "HeapModule", "NIOCore"],
        path: "Tests/Simulation"),
    program("simulate", uses: ["Simulation", "ArgumentParser"], path: "Tests/Simulate"),
    library(
        "FaultSuite", uses: nio + ["Harness", "RollcallClient", "TestSupport", "Crypto", "NIOHTTP1"],
        path: "Tests/FaultSuite"),
    library(
        "AttackSuite", uses: ["Harness", "TestSupport", "Crypto", "NIOConcurrencyHelpers", "NIOCore"],
        path: "Tests/AttackSuite"),
    tests("RollcallProtocolTests", uses: core + ["FoundationCodec"], exclude: ["golden-frames.json"]),
    tests("RollcallCoreTests", uses: core + ["RedisTwin"]),
    tests(
        "RollcallRedisTests", uses: core + nio + ["RedisTwin", "RollcallRedis", "Logging", "NIOEmbedded", "NIOSSL"],
        exclude: ["Store/golden.txt"]),
    tests(
        "RollcallWorkerTests",
        uses: core + worker + [
            "RedisTwin", "RollcallRedis", "RollcallWorker", "Crypto", "CryptoExtras", "Hummingbird",
            "NIOEmbedded",
            "NIOTLS", "Yams",
        ]),
    tests(
        "RollcallClientTests",
        uses: sockets + ["RollcallBrowser", "RollcallClient", "RollcallProtocol", "RollcallTesting", "RollcallViews"]
            + ["TestSupport", "NIOWebSocket"], exclude: ["Apple", "Client/situations.json", "Text/golden.json"]),
    tests(
        "RollcallNodeTests",
        uses: core + ["RollcallNode", "Metrics", "MetricsTestKit", "NIOConcurrencyHelpers", "ServiceLifecycle"]),
    tests("SimulationTests", uses: ["Harness", "Simulation"]),
    tests("FaultSuiteTests", uses: ["FaultSuite", "Harness", "RollcallClient"]),
    tests(
        "IntegrationTests",
        uses: nio + [
            "AttackSuite", "FaultSuite", "Harness", "RollcallClient", "RollcallProtocol", "RollcallWorker",
            "TestSupport",
            "rollcall", "Crypto", "NIOHTTP1",
        ]),
]

// The programs of `make soak` and `make bench`, which set this.
if Context.environment["ROLLCALL_PROGRAMS"] != nil {
    package.targets += [
        program("faults", uses: ["FaultSuite", "TestSupport", "ArgumentParser"], path: "Tests/Faults"),
        program("attacks", uses: ["AttackSuite", "ArgumentParser"], path: "Tests/Attacks"),
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        program(
            "micro-bench",
            uses: [
                "CAllocations", "RedisTwin", "RollcallClient", "RollcallCore", "RollcallProtocol", "RollcallServer",
                "RollcallRedis", "ArgumentParser", "Logging", "NIOCore", "NIOEmbedded",
            ], path: "Benchmarks/Micro", exclude: ["allocations.txt"]),
    ]
    // These ask Linux what processes cost, and wait with epoll.
    #if os(Linux)
        package.targets += [
            .executableTarget(
                name: "floor", dependencies: ["CHiredis"], path: "Benchmarks/Floor",
                linkerSettings: [.linkedLibrary("hiredis")]),
            .systemLibrary(name: "CEpoll", path: "Benchmarks/CEpoll"),
            program(
                "bench",
                uses: [
                    "CEpoll", "Harness", "RollcallClient", "RollcallProtocol", "RollcallRedis", "RollcallWorker",
                    "TestSupport", "ArgumentParser",
                ], path: "Benchmarks/Bench"),
        ]
    #endif
}

// Not every compiler comes with the fuzzer's runtime. Tests/fuzz.sh looks for it, and sets this.
if Context.environment["ROLLCALL_FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test }
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        program(
            "fuzz",
            uses: core + nio
                + ["CFuzzer", "FoundationCodec", "RedisTwin", "RollcallRedis", "RollcallWorker"],
            path: "Tests/Fuzz/Targets"),
    ]
}
