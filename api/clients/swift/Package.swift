// swift-tools-version:6.2
import PackageDescription

// A package of its own, so that the daemon depends on none of this.
let package = Package(
    name: "purser-example",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Without its default traits, as grpc-swift-protobuf asks for it.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.38.0", traits: []),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    ],
    targets: [
        .executableTarget(
            name: "PurserExample",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)],
            // Makes stubs of what is in Protos, whenever it has changed.
            plugins: [.plugin(name: "GRPCProtobufGenerator", package: "grpc-swift-protobuf")])
    ]
)
