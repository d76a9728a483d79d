/// A request as a caller hands it to the loop.
struct Submission: Sendable {
    let id: TransferID
    let request: CurlRequest
    let submitted: ContinuousClock.Instant
    let completion: Transfer.Completion
}
