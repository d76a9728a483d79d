import ArgumentParser
import Foundation
import GRPCCore
import SwiftProtobuf

/// Answers Apple's question about a purchase whose money is wanted back.
struct Answer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say whose a purchase is, send Apple what was used of it, and look what became of that.")

    @OptionGroup var connection: Connection

    @Argument(help: "The app, as Purser's configuration calls it.")
    var app: String

    @Argument(help: "Your own id of the user.")
    var user: String

    @Argument(help: "Apple's id of the transaction.")
    var transaction: String

    @Option(help: "How much of it was used, in milliunits: 100000 is all.")
    var percentage: Int64 = 0

    // Nobody's consent goes without saying: there is no default.
    @Flag(inversion: .prefixedNo, help: "Whether the customer has agreed that Apple is told.")
    var consent: Bool

    @Option(help: "The same for what was sent before and is sent again; without it, a new one.")
    var idempotencyKey = UUID().uuidString

    func run() async throws {
        try await explained {
            try await connection.withClient { client in
                let link = try await declareLink(client)
                tell("link: \(link.value) is \(link.user)'s")
                let sent = try await sendConsumption(client)
                tell("sent: \(sent.id) is \(sent.state)")
                let delivery = try await readDelivery(sent.id, client)
                tell("delivery: \(delivery.id) is \(delivery.state) after \(delivery.attemptCount) attempts")
            }
        }
    }

    /// Says that the purchase is the user's.
    ///
    /// The same again changes nothing, so that it needs no idempotency key.
    private func declareLink(_ client: GRPCClient<some ClientTransport>) async throws -> Purser_V1_Link {
        let links = Purser_V1_LinksService.Client(wrapping: client)
        let request = Purser_V1_DeclareLinkRequest.with {
            $0.app = app
            $0.user = user
            $0.kind = .transactionID
            $0.value = transaction
        }
        return try await repeated(within: connection.limit) { try await links.declareLink(request, options: $0) }
    }

    /// Sends what Apple asks for.
    ///
    /// Purser keeps it before it answers, and goes on until Apple has it. The key makes the same call again the same delivery,
    /// whatever became of the first.
    private func sendConsumption(_ client: GRPCClient<some ClientTransport>) async throws -> Purser_V1_Delivery {
        let consumption = Purser_V1_ConsumptionService.Client(wrapping: client)
        let request = Purser_V1_SendUserConsumptionRequest.with {
            $0.app = app
            $0.user = user
            $0.idempotencyKey = idempotencyKey
            $0.consumption.transactionID = transaction
            $0.consumption.customerConsented = consent
            $0.consumption.deliveryStatus = .delivered
            $0.consumption.sampleContentProvided = false
            $0.consumption.consumptionPercentage = percentage
        }
        return try await repeated(within: connection.limit) {
            try await consumption.sendUserConsumption(request, options: $0)
        }
    }

    /// Reads what has become of it; `Watch` is told without asking.
    private func readDelivery(
        _ id: String, _ client: GRPCClient<some ClientTransport>
    ) async throws -> Purser_V1_Delivery {
        let deliveries = Purser_V1_DeliveriesService.Client(wrapping: client)
        let request = Purser_V1_GetDeliveryRequest.with {
            $0.app = app
            $0.deliveryID = id
        }
        return try await repeated(within: connection.limit) { try await deliveries.getDelivery(request, options: $0) }
    }
}
