import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.memory.MemoryCollection;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.oplog.Oplog;
import io.netty.channel.Channel;
import java.util.List;
import java.util.Set;

/** A database of the library in memory, whose collections have indexes. */
final class IndexedDatabase extends MemoryDatabase {
    private static final Set<String> STAGES_OF_COUNT = Set.of("$match", "$skip", "$limit", "$group");

    IndexedDatabase(String name, CursorRegistry cursors) {
        super(name, cursors);
    }

    @Override
    protected MemoryCollection openOrCreateCollection(String name, CollectionOptions options) {
        return new IndexedCollection(this, name, options, cursorRegistry);
    }

    @Override
    protected Index<Integer> openOrCreateUniqueIndex(String collection, String name, List<IndexKey> keys, boolean sparse) {
        return new Indexes.Unique(name, keys, sparse);
    }

    @Override
    protected Index<Integer> openOrCreateSecondaryIndex(
            String collection, String name, List<IndexKey> keys, boolean sparse) {
        return new Indexes.Secondary(name, keys, sparse);
    }

    @Override
    public Document handleCommand(
            Channel channel, String command, Document query, DatabaseResolver databases, Oplog oplog) {
        if (command.equals("createIndexes")) {
            checkIndexes(query);
        }
        Document match = command.equals("aggregate") ? matchOfCount(query) : null;
        if (match == null || !(collectionOf(query.get(command)) instanceof IndexedCollection)) {
            return super.handleCommand(channel, command, onOneCollection(command, query), databases, oplog);
        }
        IndexedCollection collection = (IndexedCollection) collectionOf(query.get(command));
        collection.restrict(match);
        try {
            return super.handleCommand(channel, command, query, databases, oplog);
        } finally {
            collection.restrict(null);
        }
    }

    private MongoCollection<Integer> collectionOf(Object name) {
        return name instanceof String ? resolveCollection((String) name, false) : null;
    }

    /** The condition of a count, which drivers send as an aggregation: the library would look at every document. */
    private static Document matchOfCount(Document query) {
        Object pipeline = query.get("pipeline");
        if (!(pipeline instanceof List) || query.containsKey("let")) {
            return null;
        }
        Object first = null;
        for (Object stage : (List<?>) pipeline) {
            if (!(stage instanceof Document) || !STAGES_OF_COUNT.containsAll(((Document) stage).keySet())) {
                return null;
            }
            first = first == null ? stage : first;
        }
        Object match = first == null ? null : ((Document) first).get("$match");
        return match instanceof Document ? (Document) match : null;
    }

    /** The library would put one index in the place of another; the real server refuses, and so does a server alone a quorum. */
    private void checkIndexes(Document query) {
        if (query.containsKey("commitQuorum")) {
            throw new MongoServerError(2, "BadValue", "Standalones can't specify commitQuorum");
        }
        MongoCollection<Integer> descriptions = resolveCollection("system.indexes", false);
        if (descriptions == null) {
            return;
        }
        Document there = new Document("ns", getDatabaseName() + "." + query.get("createIndexes"));
        for (Document description : descriptions.handleQuery(there)) {
            for (Object each : (List<?>) query.getOrDefault("indexes", List.of())) {
                Document wanted = (Document) each;
                boolean sameName = description.get("name").equals(wanted.get("name"));
                boolean sameKey = sameKeys(description.get("key"), wanted.get("key"));
                boolean sameKind = Utils.isTrue(description.get("unique")) == Utils.isTrue(wanted.get("unique"));
                if (sameName && !(sameKey && sameKind)) {
                    throw new MongoServerError(86, "IndexKeySpecsConflict", "An existing index has the same name as the"
                            + " requested index: " + description + ", requested: " + wanted);
                }
                if (sameKey && !sameName) {
                    throw new MongoServerError(85, "IndexOptionsConflict",
                            "Index already exists with a different name: " + description.get("name"));
                }
            }
        }
    }

    private static boolean sameKeys(Object one, Object other) {
        return one instanceof Document && other instanceof Document
                && List.copyOf(((Document) one).keySet()).equals(List.copyOf(((Document) other).keySet()));
    }

    /** By its name alone the library would forget the indexes of that name of all other collections too. */
    private Document onOneCollection(String command, Document query) {
        if (!command.equals("dropIndexes") || !(query.get("index") instanceof String) || "*".equals(query.get("index"))) {
            return query;
        }
        MongoCollection<Integer> descriptions = resolveCollection("system.indexes", false);
        Document wanted = new Document("ns", getDatabaseName() + "." + query.get(command)).append("name", query.get("index"));
        if (descriptions == null) {
            return query;
        }
        for (Document description : descriptions.handleQuery(wanted)) {
            Document byKey = query.clone();
            byKey.put("index", description.get("key"));
            return byKey;
        }
        return query;
    }
}
