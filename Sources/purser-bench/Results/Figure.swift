/// One figure of a row: its measurements, each with that of its reference from the same moment.
struct Figure: Sendable {
    /// One measurement.
    struct Sample: Sendable, Encodable {
        let value: Double
        /// The reference's, measured right before or after; nil for a figure that stands by itself.
        let reference: Double?

        /// The value in units of its reference.
        var ratio: Double? {
            guard let reference, reference > 0 else { return nil }
            return value / reference
        }
    }

    /// What it is, within its row.
    let name: String
    let unit: Unit
    /// What `Sample.reference` is, where it is not what the row names.
    var reference: String?
    var goal: Goal?
    /// What a reader must know of this figure, in a few words.
    var note: String?
    private(set) var samples: [Sample] = []

    init(_ name: String, _ unit: Unit, reference: String? = nil, goal: Goal? = nil, note: String? = nil) {
        self.name = name
        self.unit = unit
        self.reference = reference
        self.goal = goal
        self.note = note
    }

    /// Keeps one measurement.
    mutating func add(_ value: Double, against reference: Double? = nil) {
        samples.append(Sample(value: value, reference: reference))
    }

    var values: Spread? { Spread(samples.map(\.value)) }
    var references: Spread? { Spread(samples.compactMap(\.reference)) }
    var ratios: Spread? { Spread(samples.compactMap(\.ratio)) }

    /// Whether the goal is met by the medians; nil without a goal.
    var isMet: Bool? { goal.map { $0.isMet(value: values?.median, ratio: ratios?.median) } }
}
