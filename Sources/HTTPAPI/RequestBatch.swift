import Domain
import JSON

/// A batch of things that each succeed or fail by themselves, whatever they are.
struct RequestBatch {
    /// Whether nothing is to be changed; nil where the route cannot be asked that.
    private let dryRun: Bool?
    let elements: [FieldValue]
    private let name: String

    /// Reads the body.
    ///
    /// `takesDryRun`: whether the body may ask that nothing be changed.
    ///
    /// - Throws: `invalidRequest` with every violation.
    init(
        _ input: RequestInput, _ name: String, atMost maximumCount: Int, takesDryRun: Bool = true
    ) throws(ServiceError) {
        var fields = try input.fields()
        dryRun = takesDryRun ? fields.boolean("dryRun", isRequired: false) ?? false : nil
        let expected = "an array of 1 to \(maximumCount) objects"
        let given = fields.array(name, expected: expected)
        if let count = given?.count, !(1...maximumCount).contains(count) {
            fields.note(name, "count", "`\(name)` must be \(expected); it holds \(count).")
        }
        guard fields.isValid, let given else { throw fields.error }
        elements = given
        self.name = name
    }

    /// Whether nothing is to be changed.
    var isDryRun: Bool { dryRun ?? false }

    /// The fields of one element.
    ///
    /// - Throws: `invalidRequest` where it is no object.
    static func members(of element: FieldValue) throws(ServiceError) -> [String: FieldValue] {
        guard case .object(let members) = element else {
            throw .invalid([
                Violation(field: "", rule: "type", message: "It must be an object, not \(element.typeName).")
            ])
        }
        return members
    }

    /// The elements as they were written.
    func raw(in input: RequestInput) -> [JSONSlice?] {
        let members = try? JSONScanner.members(of: input.body ?? [])
        return members?[name]?.array ?? Array(repeating: nil, count: elements.count)
    }

    /// Tells what became of each element: why it could not be read, or what the service says of those that could, in order.
    func answer<Value>(
        _ read: [Result<Value, ServiceError>], _ results: [Result<String, ServiceError>], requestID: String
    ) -> Answer {
        var results = results.makeIterator()
        return Answer.object(capacity: 256 + 32 * read.count) { writer in
            writer.memberIfPresent("dryRun", dryRun)
            writer.memberArray("results") { writer in
                for element in read {
                    let result = element.flatMap { _ in
                        results.next() ?? .failure(ServiceError(.internalError, "Internal error."))
                    }
                    writer.object { Self.write(result, requestID: requestID, to: &$0) }
                }
            }
        }
    }

    private static func write(
        _ result: Result<String, ServiceError>, requestID: String, to writer: inout JSONWriter
    ) {
        switch result {
        case .success(let outcome): writer.member("outcome", outcome)
        case .failure(let error):
            writer.member("outcome", "refused")
            ProblemResponse.writeMember(error, requestID: requestID, to: &writer)
        }
    }
}
