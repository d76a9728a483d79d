import ArgumentParser
import GRPCCore
import SwiftProtobuf

/// Asks whether Purser is ready, as a balancer does: nobody is asked who it is.
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask whether the daemon is ready; 75 when it is not.")

    @OptionGroup var connection: Connection

    @Argument(help: "A service, such as purser.v1.EventsService; without it, the daemon as a whole.")
    var service = ""

    func run() async throws {
        try await explained {
            try await connection.withClient { client in
                let status = try await check(client)
                tell("health: \(status)")
                guard status == .serving else { throw ExitCode(75) }
            }
        }
    }

    private func check(
        _ client: GRPCClient<some ClientTransport>
    ) async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        let health = Grpc_Health_V1_Health.Client(wrapping: client)
        let request = Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }
        return try await repeated(within: connection.limit) { options in
            try await health.check(request, options: options).status
        }
    }
}
