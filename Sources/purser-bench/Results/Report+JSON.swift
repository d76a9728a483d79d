import Foundation

extension Report {
    /// The results for machines: every sample, and what the table shows of them.
    ///
    /// - Throws: what the encoder says.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(Document(self))
    }

    private struct Document: Encodable {
        let machine: Machine
        let repetitions: Int
        let seconds: Double
        let rows: [RowDocument]

        init(_ report: Report) {
            machine = report.machine
            repetitions = report.repetitions
            seconds = report.seconds
            rows = report.entries.map(RowDocument.init)
        }
    }

    private struct RowDocument: Encodable {
        let number: Int
        let title: String
        let seconds: Double
        let failure: String?
        let figures: [FigureDocument]

        init(_ entry: Entry) {
            number = entry.row.number
            title = entry.row.title
            seconds = entry.seconds
            failure = entry.failure
            figures = entry.figures.map { FigureDocument($0, reference: $0.reference ?? entry.row.reference) }
        }
    }

    private struct FigureDocument: Encodable {
        let name: String
        let unit: Unit
        let reference: String?
        let goal: String?
        let isMet: Bool?
        let note: String?
        let value: Spread?
        let referenceValue: Spread?
        let ratio: Spread?
        let samples: [Figure.Sample]

        init(_ figure: Figure, reference: String) {
            name = figure.name
            unit = figure.unit
            self.reference = figure.references == nil ? nil : reference
            goal = figure.goal?.text(figure.unit)
            isMet = figure.isMet
            note = figure.note
            value = figure.values
            referenceValue = figure.references
            ratio = figure.ratios
            samples = figure.samples
        }
    }
}
