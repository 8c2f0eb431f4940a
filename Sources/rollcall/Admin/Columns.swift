// Tables whose columns are as wide as their widest cell.

enum Columns {
    /// Returns lines with aligned columns. Cells are untrusted text, and are made harmless.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map { Shown.text($0) } }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            var line = row.enumerated().map { column, cell in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
