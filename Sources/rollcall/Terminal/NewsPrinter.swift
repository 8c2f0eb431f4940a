import RollcallClient
import RollcallTerminal

/// Prints news, one per line.
actor NewsPrinter {
    private let client: RollcallClient
    private let wording: Wording
    private let asJSON: Bool
    private var desk = NewsDesk()

    init(_ client: RollcallClient, in language: Language, asJSON: Bool = false) {
        self.client = client
        self.asJSON = asJSON
        wording = Wording(in: language)
    }

    func changed(_ change: Change) throws {
        for news in desk.news(in: change) {
            if asJSON {
                try Output.json(news)
            } else if let line = news.line(in: wording, at: client.serverTime) {
                try Output.line(line)
            }
        }
    }
}
