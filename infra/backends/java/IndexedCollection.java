import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DocumentWithPosition;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.memory.MemoryCollection;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A collection of the library in memory that reads from its indexes what it can. */
final class IndexedCollection extends MemoryCollection {
    private final List<IndexEntries> ordered = new ArrayList<>();
    private Indexes.Unique ids;
    private int end;
    private Document restriction;

    IndexedCollection(MongoDatabase database, String name, CollectionOptions options, CursorRegistry cursors) {
        super(database, name, options, cursors);
    }

    @Override
    public void addIndex(Index<Integer> index) {
        super.addIndex(index);
        collectEntries();
    }

    @Override
    public void dropIndex(String name) {
        super.dropIndex(name);
        collectEntries();
    }

    private void collectEntries() {
        ordered.clear();
        ids = null;
        for (Index<Integer> index : getIndexes()) {
            if (index instanceof Indexes.Unique && index.getName().equals("_id_")) {
                ids = (Indexes.Unique) index;
            }
            if (index instanceof Indexes.Ordered) {
                ordered.add(((Indexes.Ordered) index).entries());
            }
        }
    }

    /** Its documents are those that match, until this is called with null: for the first stage of an aggregation. */
    void restrict(Document query) {
        restriction = query;
    }

    @Override
    public Iterable<Document> queryAll() {
        return restriction == null ? super.queryAll() : handleQuery(restriction);
    }

    @Override
    protected QueryResult queryDocuments(
            Document query, Document orderBy, int skip, int limit, int batchSize, Document projection) {
        if (ids != null && query.get("_id") instanceof String) {
            Integer position = ids.find((String) query.get("_id"));
            Stream<Document> only = position == null ? Stream.empty() : Stream.of(getDocument(position));
            return matchDocumentsFromStream(query, only, skip, limit, batchSize, null, projection);
        }
        boolean natural = orderBy != null && orderBy.containsKey("$natural");
        List<Planner.Plan> plans = natural ? null : Planner.plan(ordered, query, orderBy, limit > 0);
        if (plans == null) {
            return matchDocuments(query, orderBy, skip, limit, batchSize, projection);
        }
        boolean inOrder = plans.size() == 1 && plans.get(0).ordered;
        Set<Integer> positions = new LinkedHashSet<>();
        for (Planner.Plan plan : plans) {
            read(plan, query, plan.ordered && limit > 0 ? skip + limit : 0, positions);
        }
        Stream<Document> documents = positions.stream().map(this::getDocument);
        Comparator<Document> comparator = inOrder ? null : deriveComparator(orderBy);
        return matchDocumentsFromStream(query, documents, skip, limit, batchSize, comparator, projection);
    }

    /** @param enough so many that match are needed, or 0: all candidates, matching or not */
    private void read(Planner.Plan plan, Document query, int enough, Set<Integer> positions) {
        int matching = 0;
        for (Iterator<Integer> all = plan.positions(); all.hasNext(); ) {
            Integer position = all.next();
            if (enough == 0) {
                positions.add(position);
            } else if (documentMatchesQuery(getDocument(position), query)) {
                // What another alternative has found already counts too: it is one of the first of this one.
                positions.add(position);
                matching++;
                if (matching == enough) {
                    return;
                }
            }
        }
    }

    @Override
    protected Integer addDocumentInternal(Document document) {
        Integer position = super.addDocumentInternal(document);
        end = Math.max(end, position + 1);
        return position;
    }

    @Override
    protected Stream<DocumentWithPosition<Integer>> streamAllDocumentsWithPosition() {
        return IntStream.range(0, end)
                .filter(position -> getDocument(position) != null)
                .mapToObj(position -> new DocumentWithPosition<>(getDocument(position), position));
    }

    /** The library would encode every document once more to know its size. */
    @Override
    protected boolean tracksDataSize() {
        return false;
    }
}
