import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.bson.Decimal128;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The documents of a collection in the order of some fields and, last, of the id: one entry for each document, and for
 * one with an array in a field, one for each element. Values other than numbers and strings are kept so that every
 * document is there, but nothing is looked up by them.
 */
final class IndexEntries {
    /** Values of the first fields, or of all. Shorter ones are bounds: before, or after, all that begin so. */
    static final class Key implements Comparable<Key> {
        final Object[] values;
        final boolean after;

        Key(Object[] values, boolean after) {
            this.values = values;
            this.after = after;
        }

        @Override
        public int compareTo(Key other) {
            int shared = Math.min(values.length, other.values.length);
            for (int i = 0; i < shared; i++) {
                int order = compareValues(values[i], other.values[i]);
                if (order != 0) {
                    return order;
                }
            }
            if (values.length == other.values.length) {
                return Boolean.compare(after, other.after);
            }
            return values.length < other.values.length ? (after ? 1 : -1) : (other.after ? -1 : 1);
        }
    }

    private final List<String> fields;
    private final List<String[]> paths = new ArrayList<>();
    private final TreeMap<Key, Integer> entries = new TreeMap<>();
    private int regular;
    private final boolean[] arrays;

    IndexEntries(List<String> keys) {
        fields = new ArrayList<>(keys);
        if (!fields.contains("_id")) {
            fields.add("_id");
        }
        for (String field : fields) {
            paths.add(field.split("\\."));
        }
        regular = fields.size();
        arrays = new boolean[fields.size()];
    }

    List<String> fields() {
        return fields;
    }

    /** How many of the first fields have had nothing but numbers, strings, arrays of them, and nulls. */
    int regularFields() {
        return regular;
    }

    /** Whether a document has, or had, an array here, so that there may be several entries for it. */
    boolean isArray(int field) {
        return arrays[field];
    }

    int size() {
        return entries.size();
    }

    NavigableMap<Key, Integer> between(Key from, Key to) {
        return entries.subMap(from, true, to, true);
    }

    void add(Document document, Integer position) {
        for (Key key : keysOf(document)) {
            entries.put(key, position);
        }
    }

    /** @return where the document was, or null */
    Integer remove(Document document) {
        Integer position = null;
        for (Key key : keysOf(document)) {
            Integer removed = entries.remove(key);
            // An array may have an element twice.
            position = removed == null ? position : removed;
        }
        return position;
    }

    void replace(Document before, Document document, Integer position) {
        List<Key> old = keysOf(before);
        List<Key> keys = keysOf(document);
        boolean same = old.size() == keys.size();
        for (int i = 0; same && i < keys.size(); i++) {
            same = old.get(i).compareTo(keys.get(i)) == 0;
        }
        if (!same) {
            old.forEach(entries::remove);
            keys.forEach(key -> entries.put(key, position));
        }
    }

    private List<Key> keysOf(Document document) {
        List<Object[]> tuples = new ArrayList<>(1);
        tuples.add(new Object[paths.size()]);
        for (int field = 0; field < paths.size(); field++) {
            Object value = valueAt(document, paths.get(field), field);
            arrays[field] |= value instanceof Collection;
            if (value instanceof Collection && !((Collection<?>) value).isEmpty()) {
                tuples = multiplied(tuples, field, (Collection<?>) value);
            } else {
                for (Object[] tuple : tuples) {
                    tuple[field] = normalized(value, field);
                }
            }
        }
        List<Key> keys = new ArrayList<>(tuples.size());
        tuples.forEach(tuple -> keys.add(new Key(tuple, false)));
        return keys;
    }

    private List<Object[]> multiplied(List<Object[]> tuples, int field, Collection<?> values) {
        List<Object[]> all = new ArrayList<>(tuples.size() * values.size());
        for (Object[] tuple : tuples) {
            for (Object value : values) {
                Object[] copy = tuple.clone();
                copy[field] = normalized(value, field);
                all.add(copy);
            }
        }
        return all;
    }

    private Object valueAt(Document document, String[] path, int field) {
        Object value = document;
        for (String name : path) {
            if (!(value instanceof Map)) {
                if (value instanceof Collection) {
                    // An array of documents: a query looks into each.
                    regular = Math.min(regular, field);
                }
                return null;
            }
            value = ((Map<?, ?>) value).get(name);
        }
        return value;
    }

    private Object normalized(Object value, int field) {
        Object comparable = comparable(value);
        if (comparable != null && !(comparable instanceof String) && !(comparable instanceof Double)) {
            regular = Math.min(regular, field);
        }
        return comparable;
    }

    /** Equal values of a query are equal here; null, numbers and strings are in the order of the protocol. */
    static Object comparable(Object value) {
        if (value == null || value instanceof Missing || value instanceof Collection && ((Collection<?>) value).isEmpty()) {
            return null;
        }
        if (value instanceof Number && !(value instanceof Decimal128)) {
            double number = ((Number) value).doubleValue();
            boolean exact = !(value instanceof Long) || (long) number == (Long) value;
            return exact ? (Object) (number + 0.0) : value;
        }
        return value;
    }

    private static int compareValues(Object one, Object other) {
        if (one instanceof String && other instanceof String) {
            return ((String) one).compareTo((String) other);
        }
        int order = Integer.compare(rank(one), rank(other));
        if (order != 0 || one == null) {
            return order;
        }
        if (one instanceof Double) {
            return ((Double) one).compareTo((Double) other);
        }
        int ofClass = one.getClass().getName().compareTo(other.getClass().getName());
        return ofClass != 0 ? ofClass : one.toString().compareTo(other.toString());
    }

    private static int rank(Object value) {
        return value == null ? 0 : value instanceof Double ? 1 : value instanceof String ? 2 : 3;
    }
}
