import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Documents in memory, and a log of the commands that made them. One command at a time; one that may change something
 * is in the log before it is carried out, and so before it is answered: a guarded update is atomic, and an acknowledged
 * write outlives SIGKILL, as with the real server. The log is replayed at the start, and replaced by what came out.
 */
final class DurableBackend extends MemoryBackend {
    private static final Set<String> CHANGING = Set.of(
            "insert", "update", "delete", "findandmodify", "create", "createindexes", "drop", "dropindexes",
            "dropdatabase", "renamecollection");
    /** The log is replaced when it has so many bytes, and three times those of its beginning. */
    private static final long REPLACED_AT = 256L << 20;
    private static final int DOCUMENTS_IN_COMMAND = 100;

    private final Map<String, IndexedDatabase> opened = new ConcurrentSkipListMap<>();
    private final Path path;
    private CommandLog log;
    private long replacedAt;

    DurableBackend(Path path) throws IOException {
        this.path = path;
        EmbeddedChannel nobody = new EmbeddedChannel();
        CommandLog.replay(path, command -> replay(nobody, command));
        replaceLog();
    }

    @Override
    public MemoryDatabase openOrCreateDatabase(String name) {
        IndexedDatabase database = new IndexedDatabase(name, getCursorRegistry());
        opened.put(name, database);
        return database;
    }

    @Override
    public void dropDatabase(String name) {
        super.dropDatabase(name);
        opened.remove(name);
    }

    @Override
    public synchronized QueryResult handleQuery(MongoQuery query) {
        return super.handleQuery(query);
    }

    @Override
    public synchronized Document handleCommand(Channel channel, String database, String command, Document query) {
        String name = command.toLowerCase(Locale.ROOT);
        if (CHANGING.contains(name)) {
            if (log.length() > replacedAt) {
                replaceLog();
            }
            checkRepeatable(name, query);
            query.put("$db", database);
            log.append(query);
        } else if (name.equals("aggregate")) {
            checkReads(query);
        }
        return super.handleCommand(channel, database, command, query);
    }

    private void replay(Channel channel, Document command) {
        try {
            String name = command.keySet().iterator().next();
            super.handleCommand(channel, (String) command.get("$db"), name, command);
        } catch (RuntimeException refused) {
            // As it was refused then.
        }
    }

    /** What would come out differently the next time gets its value now, or is refused. */
    private static void checkRepeatable(String command, Document query) {
        if (command.equals("insert")) {
            for (Object document : (List<?>) query.getOrDefault("documents", List.of())) {
                ((Document) document).putIfAbsent("_id", new ObjectId());
            }
            return;
        }
        List<Document> updates = new ArrayList<>();
        if (command.equals("update")) {
            ((List<?>) query.getOrDefault("updates", List.of())).forEach(update -> updates.add((Document) update));
        } else if (command.equals("findandmodify")) {
            updates.add(new Document(query).append("q", query.get("query")).append("u", query.get("update")));
        }
        for (Document update : updates) {
            Object change = update.get("u");
            boolean dated = change instanceof Document && ((Document) change).containsKey("$currentDate");
            if (dated || Utils.isTrue(update.get("upsert")) && !namesId(update.get("q")) && !namesId(change)) {
                throw new MongoServerError(238, "NotImplemented", "not here: an upsert without an _id, $currentDate");
            }
        }
    }

    private static boolean namesId(Object document) {
        return document instanceof Document && ((Document) document).get("_id") instanceof String;
    }

    private static void checkReads(Document query) {
        for (Object stage : (List<?>) query.getOrDefault("pipeline", List.of())) {
            Document known = (Document) stage;
            if (known.containsKey("$out") || known.containsKey("$merge")) {
                throw new MongoServerError(238, "NotImplemented", "not here: $out, $merge");
            }
        }
    }

    private void replaceLog() {
        try {
            CommandLog before = log;
            log = CommandLog.replacing(path, next -> opened.values().forEach(database -> describe(database, next)));
            replacedAt = Math.max(REPLACED_AT, 3 * log.length());
            if (before != null) {
                before.close();
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The commands that make the database as it is. */
    private static void describe(IndexedDatabase database, CommandLog log) {
        for (Document namespace : database.resolveCollection("system.namespaces", true).queryAll()) {
            String fullName = (String) namespace.get("name");
            String name = fullName.substring(database.getDatabaseName().length() + 1);
            MongoCollection<Integer> collection = database.resolveCollection(name, true);
            log.append(command(database, "create", name));
            List<Document> page = new ArrayList<>();
            for (Document document : collection.queryAll()) {
                page.add(document);
                if (page.size() == DOCUMENTS_IN_COMMAND) {
                    log.append(command(database, "insert", name).append("documents", page));
                    page.clear();
                }
            }
            if (!page.isEmpty()) {
                log.append(command(database, "insert", name).append("documents", page));
            }
            List<Document> indexes = new ArrayList<>();
            MongoCollection<Integer> descriptions = database.resolveCollection("system.indexes", true);
            for (Document description : descriptions.handleQuery(new Document("ns", fullName))) {
                if (!description.get("name").equals("_id_")) {
                    indexes.add(description);
                }
            }
            if (!indexes.isEmpty()) {
                log.append(command(database, "createIndexes", name).append("indexes", indexes));
            }
        }
    }

    private static Document command(IndexedDatabase database, String name, String collection) {
        return new Document(name, collection).append("$db", database.getDatabaseName());
    }
}
