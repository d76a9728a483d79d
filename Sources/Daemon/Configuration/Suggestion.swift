/// Guesses what somebody meant to type.
enum Suggestion {
    /// A sentence that names the nearest of the known names, if one is near; otherwise one that lists them all.
    static func text(for name: String, among known: some Collection<String>) -> String {
        let candidates = known.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
        let nearest = candidates.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        // Two neighbours swapped count as two; a name that shares nothing with the candidate is no slip.
        let slip = min(max(2, name.count / 3), name.count - 1)
        if let nearest, nearest.distance <= slip { return "Did you mean `\(nearest.name)`?" }
        guard known.count <= 20 else { return "" }
        return "Known here: \(known.sorted().map { "`\($0)`" }.joined(separator: ", "))."
    }

    /// Levenshtein's distance: how many characters to insert, delete or replace.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (character == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
