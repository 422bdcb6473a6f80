import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which entries of which index hold all documents that a query may match. They may hold others too: whoever reads them
 * applies the whole query. What is not understood here narrows nothing.
 */
final class Planner {
    /** Entries of each index that are counted to find out which has fewest. */
    private static final int MAX_COUNTED = 64;

    private Planner() {}

    /** Ranges of one index. */
    static final class Plan {
        final IndexEntries entries;
        final List<IndexEntries.Key[]> ranges = new ArrayList<>();
        /** Whether the entries come in the order that is asked for. */
        boolean ordered;
        boolean descending;
        int fields;

        Plan(IndexEntries entries) {
            this.entries = entries;
        }

        /** Where the documents are, in the order of the entries; a document may come twice. */
        Iterator<Integer> positions() {
            Iterator<IndexEntries.Key[]> rest = ranges.iterator();
            return new Iterator<>() {
                private Iterator<Integer> range = Collections.emptyIterator();

                @Override
                public boolean hasNext() {
                    while (!range.hasNext() && rest.hasNext()) {
                        IndexEntries.Key[] ends = rest.next();
                        var between = entries.between(ends[0], ends[1]);
                        range = (descending ? between.descendingMap() : between).values().iterator();
                    }
                    return range.hasNext();
                }

                @Override
                public Integer next() {
                    return hasNext() ? range.next() : Collections.<Integer>emptyIterator().next();
                }
            };
        }
    }

    /** One plan for each alternative of the query, or null when an alternative would have to look at everything. */
    static List<Plan> plan(List<IndexEntries> indexes, Document query, Document orderBy, boolean limited) {
        Object or = query.get("$or");
        if (!(or instanceof Collection)) {
            Plan only = best(indexes, conditionsOf(List.of(query)), orderBy, limited);
            return only == null ? null : List.of(only);
        }
        List<Plan> plans = new ArrayList<>();
        for (Object alternative : (Collection<?>) or) {
            if (!(alternative instanceof Document)) {
                return null;
            }
            Plan plan = best(indexes, conditionsOf(List.of(query, (Document) alternative)), orderBy, limited);
            if (plan == null) {
                return null;
            }
            plans.add(plan);
        }
        return plans;
    }

    /** The conditions on each path that all have to hold. */
    private static Map<String, List<Object>> conditionsOf(Collection<?> queries) {
        Map<String, List<Object>> conditions = new HashMap<>();
        for (Object query : queries) {
            if (!(query instanceof Document)) {
                continue;
            }
            for (Map.Entry<String, Object> entry : ((Document) query).entrySet()) {
                if (entry.getKey().equals("$and") && entry.getValue() instanceof Collection) {
                    conditionsOf((Collection<?>) entry.getValue())
                            .forEach((path, all) -> conditions.computeIfAbsent(path, key -> new ArrayList<>()).addAll(all));
                } else if (!entry.getKey().startsWith("$")) {
                    conditions.computeIfAbsent(entry.getKey(), key -> new ArrayList<>()).add(entry.getValue());
                }
            }
        }
        return conditions;
    }

    private static Plan best(
            List<IndexEntries> indexes, Map<String, List<Object>> conditions, Document orderBy, boolean limited) {
        List<Plan> plans = new ArrayList<>();
        for (IndexEntries entries : indexes) {
            Plan plan = planOf(entries, conditions, orderBy);
            boolean sorts = plan.ordered && orderBy != null && !orderBy.isEmpty();
            if (plan.fields > 0 || sorts) {
                plans.add(plan);
            }
        }
        if (plans.size() < 2) {
            return plans.isEmpty() ? null : plans.get(0);
        }
        List<Iterator<Integer>> counts = new ArrayList<>();
        plans.forEach(plan -> counts.add(plan.positions()));
        for (int counted = 0; counted < MAX_COUNTED; counted++) {
            for (int i = 0; i < plans.size(); i++) {
                if (!counts.get(i).hasNext()) {
                    return plans.get(i);
                }
                counts.get(i).next();
            }
        }
        // All have many: best when the first ones are enough, then with the most conditions.
        return Collections.max(plans, (one, other) -> {
            int order = limited ? Boolean.compare(one.ordered, other.ordered) : 0;
            return order != 0 ? order : Integer.compare(one.fields, other.fields);
        });
    }

    private static Plan planOf(IndexEntries entries, Map<String, List<Object>> conditions, Document orderBy) {
        Plan plan = new Plan(entries);
        List<String> fields = entries.fields();
        List<Object> prefix = new ArrayList<>();
        Set<String> fixed = new HashSet<>();
        int regular = entries.regularFields();
        while (prefix.size() < regular) {
            String field = fields.get(prefix.size());
            Object equal = equalOf(conditions.get(field));
            if (equal == null) {
                break;
            }
            if (!entries.isArray(prefix.size())) {
                fixed.add(field);
            }
            prefix.add(equal);
        }
        int next = prefix.size();
        plan.fields = next;
        plan.ordered = isOrdered(plan, orderBy, fixed, next);
        List<Object> there = next < regular ? conditions.get(fields.get(next)) : null;
        Collection<Object> choices = choicesOf(there);
        if (choices != null) {
            plan.fields++;
            plan.ordered = plan.ordered && (choices.size() < 2 || orderBy == null || orderBy.isEmpty());
            for (Object choice : choices) {
                plan.ranges.add(new IndexEntries.Key[] {bound(prefix, choice, false), bound(prefix, choice, true)});
            }
            return plan;
        }
        IndexEntries.Key[] range = {bound(prefix, null, false), bound(prefix, null, true)};
        if (there != null && !entries.isArray(next)) {
            narrow(plan, range, prefix, there);
        }
        plan.ranges.add(range);
        return plan;
    }

    private static IndexEntries.Key bound(List<Object> prefix, Object last, boolean after) {
        List<Object> values = prefix;
        if (last != null) {
            values = new ArrayList<>(prefix);
            values.add(last);
        }
        return new IndexEntries.Key(values.toArray(), after);
    }

    /** Every sort key has one value alone, or is the next field of the index. */
    private static boolean isOrdered(Plan plan, Document orderBy, Set<String> fixed, int from) {
        if (orderBy == null) {
            return true;
        }
        int next = from;
        Boolean descending = null;
        for (Map.Entry<String, Object> key : orderBy.entrySet()) {
            if (fixed.contains(key.getKey())) {
                continue;
            }
            boolean matches = next < plan.entries.regularFields()
                    && !plan.entries.isArray(next)
                    && plan.entries.fields().get(next).equals(key.getKey())
                    && key.getValue() instanceof Number;
            if (!matches) {
                return false;
            }
            boolean down = ((Number) key.getValue()).intValue() <= 0;
            if (descending != null && descending != down) {
                return false;
            }
            descending = down;
            next++;
        }
        plan.descending = descending != null && descending;
        return true;
    }

    private static Object equalOf(List<Object> conditions) {
        for (Object condition : conditions == null ? List.of() : conditions) {
            Object wanted = condition instanceof Document ? ((Document) condition).get("$eq") : condition;
            if (isPlain(wanted)) {
                return IndexEntries.comparable(wanted);
            }
        }
        return null;
    }

    private static Collection<Object> choicesOf(List<Object> conditions) {
        for (Object condition : conditions == null ? List.of() : conditions) {
            Object in = condition instanceof Document ? ((Document) condition).get("$in") : null;
            if (in instanceof Collection && ((Collection<?>) in).stream().allMatch(Planner::isPlain)) {
                Set<Object> choices = new LinkedHashSet<>();
                ((Collection<?>) in).forEach(value -> choices.add(IndexEntries.comparable(value)));
                return choices;
            }
        }
        return null;
    }

    /** Bounds are strings: what is of another type is no match, whatever the bound. */
    private static void narrow(Plan plan, IndexEntries.Key[] range, List<Object> prefix, List<Object> conditions) {
        TreeMap<String, Object> bounds = new TreeMap<>();
        for (Object condition : conditions) {
            if (condition instanceof Document) {
                ((Document) condition).forEach((operator, value) -> {
                    if (value instanceof String) {
                        bounds.put(operator, value);
                    }
                });
            }
        }
        for (String operator : bounds.keySet()) {
            boolean after = operator.equals("$gt") || operator.equals("$lte");
            int side = operator.startsWith("$gt") ? 0 : 1;
            if (!List.of("$gt", "$gte", "$lt", "$lte").contains(operator)) {
                continue;
            }
            IndexEntries.Key key = bound(prefix, bounds.get(operator), after);
            int order = key.compareTo(range[side]);
            if (side == 0 ? order > 0 : order < 0) {
                range[side] = key;
                plan.fields = prefix.size() + 1;
            }
        }
        if (range[0].compareTo(range[1]) > 0) {
            range[1] = range[0];
        }
    }

    private static boolean isPlain(Object value) {
        Object comparable = value instanceof Missing ? null : IndexEntries.comparable(value);
        return comparable instanceof String || comparable instanceof Double;
    }
}
