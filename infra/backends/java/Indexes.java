import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.memory.index.MemoryUniqueIndex;
import de.bwaldvogel.mongo.bson.Document;
import java.util.List;
import java.util.stream.Collectors;

/** The indexes of the library, with entries that can be read in their order. */
final class Indexes {
    private Indexes() {}

    interface Ordered {
        IndexEntries entries();
    }

    private static List<String> fieldsOf(List<IndexKey> keys) {
        return keys.stream().map(IndexKey::getKey).collect(Collectors.toList());
    }

    static final class Unique extends MemoryUniqueIndex implements Ordered {
        private final IndexEntries entries;

        Unique(String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys, sparse);
            entries = new IndexEntries(fieldsOf(keys));
        }

        @Override
        public IndexEntries entries() {
            return entries;
        }

        /** Where the document with this one value is, or null. */
        Integer find(String value) {
            return getPosition(new KeyValue(value));
        }

        @Override
        public synchronized void add(Document document, Integer position, MongoCollection<Integer> collection) {
            super.add(document, position, collection);
            entries.add(document, position);
        }

        @Override
        public synchronized Integer remove(Document document) {
            entries.remove(document);
            return super.remove(document);
        }
    }

    /** The library has none that is not unique. The collection asks the entries themselves; see {@link Planner}. */
    static final class Secondary extends Index<Integer> implements Ordered {
        private final IndexEntries entries;

        Secondary(String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys, sparse);
            entries = new IndexEntries(fieldsOf(keys));
        }

        @Override
        public IndexEntries entries() {
            return entries;
        }

        @Override
        public Integer getPosition(Document document) {
            return null;
        }

        @Override
        public void checkAdd(Document document, MongoCollection<Integer> collection) {}

        @Override
        public void add(Document document, Integer position, MongoCollection<Integer> collection) {
            entries.add(document, position);
        }

        @Override
        public Integer remove(Document document) {
            return entries.remove(document);
        }

        @Override
        public boolean canHandle(Document query) {
            return false;
        }

        @Override
        public Iterable<Integer> getPositions(Document query) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long getCount() {
            return entries.size();
        }

        @Override
        public long getDataSize() {
            return entries.size();
        }

        @Override
        public void checkUpdate(Document before, Document document, MongoCollection<Integer> collection) {}

        @Override
        public void updateInPlace(
                Document before, Document document, Integer position, MongoCollection<Integer> collection) {
            entries.replace(before, document, position);
        }

        @Override
        public void drop() {}
    }
}
