import Foundation
import GRPCAPI

/// Row 13: the read of row 1 by gRPC, beside the same by REST and beside programs that only say hello.
struct GRPCRow: Row {
    let number = 13
    let title = "The same GET by gRPC"
    let reference = "the same by REST"
    let tools = [Tool.nginx, .wrk]

    /// The measurements at one number of connections, on each of which one call is under way.
    private struct Level {
        var cost: Figure
        var sum: Figure
        var hello: Figure
        var threads: ThreadFigures

        init(_ connections: Int) {
            let place = "\(connections) connections"
            cost = Figure("\(place), processor time an answer", .microseconds)
            sum = Figure(
                "\(place), processor time an answer", .microseconds,
                reference: "hello of grpc-swift + REST - hello of HTTP",
                goal: .ratioAtMost(1.1))
            hello = Figure(
                "\(place), a hello by grpc-swift, processor time", .microseconds,
                reference: "a hello by HTTP/1.1 on NIO")
            threads = ThreadFigures(place)
        }

        var figures: [Figure] { [cost, sum, hello] + threads.figures }
    }

    /// Who is measured.
    private struct Sides {
        let grpc: GRPCSide
        let rest: GetSide
        let grpcHello: GRPCSide
        let httpHello: GetSide
    }

    func measure(in bench: Bench) async throws -> [Figure] {
        let sides = try await sides(in: bench)
        var figures: [Figure] = []
        for connections in [16, 64] { figures += try await compare(sides, connections, in: bench).figures }
        return figures
    }

    private func compare(_ sides: Sides, _ connections: Int, in bench: Bench) async throws -> Level {
        var level = Level(connections)
        for _ in 0..<bench.repetitions {
            let grpc = try await sides.grpc.sample(connections: connections, in: bench)
            let rest = try await sides.rest.sample(connections: connections, in: bench).cost.microseconds
            let hello = try await sides.grpcHello.sample(connections: connections, in: bench).cost.microseconds
            let plain = try await sides.httpHello.sample(connections: connections, in: bench).cost.microseconds
            level.cost.add(grpc.cost.microseconds, against: rest)
            level.sum.add(grpc.cost.microseconds, against: hello + rest - plain)
            level.hello.add(hello, against: plain)
            level.threads.add(grpc.cost)
        }
        return level
    }

    private func sides(in bench: Bench) async throws -> Sides {
        let upstream = try await Nginx.upstream(in: bench)
        var configuration = PurserConfiguration(name: "grpc")
        configuration.speaksGRPC = true
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        let (method, messages) = try messages(configuration, bench)
        let plan = HelloServer(grpcPort: try Loopback.freePort(), httpPort: try Loopback.freePort())
        let hello = try await bench.start(
            try bench.program("purser-bench"),
            ["hello", String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)], core: bench.cores.service)
        try await Loopback.awaitListener(at: plan.grpcPort, of: hello)
        try await Loopback.awaitListener(at: plan.httpPort, of: hello)
        let empty = bench.folder.appending(path: "hello.messages")
        try RequestFile.write([[]], to: empty)
        return Sides(
            grpc: GRPCSide(
                process: daemon.process, port: daemon.ports.grpc, method: method, messages: messages,
                token: PurserConfiguration.token),
            rest: facade.side,
            grpcHello: GRPCSide(
                process: hello, port: plan.grpcPort, method: HelloServer.method, messages: empty.path),
            httpHello: GetSide(load: Wrk(port: plan.httpPort, path: "/"), process: hello))
    }

    /// Writes a message for each transaction.
    ///
    /// - Returns: the path of the method, and that of the `RequestFile`.
    private func messages(_ configuration: PurserConfiguration, _ bench: Bench) throws -> (String, String) {
        let contract = try ProtoContract.current()
        let messages = try (0..<Wrk.identifierCount).map { index in
            let app = configuration.measuredApp(index % PurserConfiguration.measuredApps)
            return try CallClient.message(
                for: "GetTransaction",
                json: Array(
                    #"{"app":"\#(app)","transactionId":"\#(Wrk.firstIdentifier + index)","environment":"Sandbox"}"#.utf8
                ),
                contract)
        }
        let file = bench.folder.appending(path: "grpc.messages")
        try RequestFile.write(messages.map(\.bytes), to: file)
        return (messages[0].path, file.path)
    }
}
