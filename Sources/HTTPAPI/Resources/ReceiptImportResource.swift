import Domain
import HTTPTypes
import JSON

/// Taking receipts over from where they were kept before, for operators.
struct ReceiptImportRoutes: Sendable {
    let service: ReceiptService

    /// `POST /v1/apps/{app}/receipts:import`.
    func importReceipts(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let batch = try ImportBatch(input, "receipts", atMost: ReceiptService.maximumImport)
        let metadata = batch.raw(in: input).map { $0?.object?["metadata"].map { Array($0.rawBytes) } }
        let read = zip(batch.elements, metadata).map { element, metadata in
            Result { () throws(ServiceError) in
                try FieldReader.read(try ImportBatch.members(of: element)) {
                    // The request comes from the operator and not from where the receipt did.
                    ReceiptUpload(&$0, metadata: metadata, requestAddress: nil)
                }
            }
        }
        let uploads = read.compactMap { try? $0.get() }
        let results = try await service.importReceipts(uploads, app: app, isDryRun: batch.isDryRun, by: input.actor)
        return batch.answer(read, results.map { $0.map(\.rawValue) }, requestID: input.requestID)
    }
}

/// A batch of what is imported, whatever it is.
struct ImportBatch {
    let isDryRun: Bool
    let elements: [FieldValue]
    private let name: String

    /// Reads the body.
    ///
    /// - Throws: `invalidRequest` with every violation.
    init(_ input: RequestInput, _ name: String, atMost maximumCount: Int) throws(ServiceError) {
        var fields = try input.fields()
        isDryRun = fields.boolean("dryRun", isRequired: false) ?? false
        let expected = "an array of 1 to \(maximumCount) objects"
        let given = fields.array(name, expected: expected)
        if let count = given?.count, !(1...maximumCount).contains(count) {
            fields.note(name, "count", "`\(name)` must be \(expected); it holds \(count).")
        }
        guard fields.isValid, let given else { throw fields.error }
        elements = given
        self.name = name
    }

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
        return Answer.object { writer in
            writer.member("dryRun", isDryRun)
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
