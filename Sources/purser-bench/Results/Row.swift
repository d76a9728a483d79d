/// One row of the table: something to measure, and what it is measured against.
protocol Row: Sendable {
    /// The number by which `--row` chooses it.
    var number: Int { get }
    /// What is measured, in a few words.
    var title: String { get }
    /// What it is measured against, in a few words.
    var reference: String { get }
    /// Programs of other packages without which there is nothing to measure.
    var tools: [Tool] { get }

    /// Measures every figure of the row, in turns with its reference.
    ///
    /// - Throws: whatever keeps the row from being measured; the table then says so and no goal of it counts as met.
    func measure(in bench: Bench) async throws -> [Figure]
}

/// Every row, in the order of the table.
enum RowCatalog {
    static let all: [any Row] = [
        FacadeRow(), VerificationRow(), RefundHistoryRow(), ConsumptionRow(), WebhookRow(), UpstreamClientRow(),
        TokenRow(), FootprintRow(), GrowthRow(), OverloadRow(),
    ]
}
