// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicLevels;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One level of the filters with wildcards, where at least two of them branch. A child is a leaf (a {@link Subscription} or
 * {@link FilterEntry}, whose filter has the remaining levels) or another node. A filter that is alone below a level needs no
 * further nodes.
 *
 * <p>Level strings are not stored: all filters below a node have the same prefix, so a node refers to the text of one of them and
 * knows the end of its own level in it. Fields are volatile, and each change is one store of a complete substructure. A node that
 * has been removed is never changed again.
 */
final class TrieNode {

    private static final int LARGEST_ARRAY = 8;
    private static final int TABLE_BECOMES_ARRAY = 4;
    private static final int LONGEST_BORROWED = 256;

    /** A text that begins with the levels above and of this node. */
    private final String text;

    /** Offset of the next level in all filters below. */
    private final int childStart;

    /** The leaf of the filter that ends at this node. */
    private volatile @Nullable Object here;

    /** The child for {@code +}: leaf or node. */
    private volatile @Nullable Object plus;

    /** The leaf of the filter whose next level is {@code #}. */
    private volatile @Nullable Object hash;

    /** The children for other levels: a leaf, a node, an array of up to 8 of these, or a {@link LevelTable}. */
    private volatile @Nullable Object children;

    TrieNode(String text, int childStart) {
        int length = Math.max(0, childStart - 1);
        this.text = text.length() - length > LONGEST_BORROWED ? text.substring(0, length) : text;
        this.childStart = childStart;
    }

    int childStart() {
        return childStart;
    }

    @Nullable
    Object here() {
        return here;
    }

    @Nullable
    Object hash() {
        return hash;
    }

    @Nullable
    Object plus() {
        return plus;
    }

    void setHere(@Nullable Object leaf) {
        here = leaf;
    }

    void setHash(@Nullable Object leaf) {
        hash = leaf;
    }

    void setPlus(@Nullable Object leafOrNode) {
        plus = leafOrNode;
    }

    /** The child for the level {@code topic[from, to)}. */
    @Nullable
    Object child(int levelHash, String topic, int from, int to) {
        Object found = children;
        if (found == null) {
            return null;
        }
        if (found instanceof LevelTable table) {
            return table.find(levelHash, topic, from, to);
        }
        if (found instanceof Object[] few) {
            int index = indexOf(few, topic, from, to);
            return index < 0 ? null : few[index];
        }
        return isKey(found, childStart, topic, from, to) ? found : null;
    }

    /** Sets the child for a level to a leaf or node. */
    void putChild(int levelHash, String filter, int from, int to, Object value) {
        Object found = children;
        if (found instanceof LevelTable table) {
            table.put(levelHash, filter, from, to, value);
        } else if (found instanceof Object[] few) {
            putAmongFew(few, levelHash, filter, from, to, value);
        } else if (found == null || isKey(found, childStart, filter, from, to)) {
            children = value;
        } else {
            children = new Object[] {found, value};
        }
    }

    private void putAmongFew(Object[] few, int levelHash, String filter, int from, int to, Object value) {
        int index = indexOf(few, filter, from, to);
        if (index < 0 && few.length == LARGEST_ARRAY) {
            LevelTable table = new LevelTable(childStart, false);
            for (Object child : few) {
                table.add(levelHash(child), child);
            }
            table.put(levelHash, filter, from, to, value);
            children = table;
            return;
        }
        Object[] changed = Arrays.copyOf(few, index < 0 ? few.length + 1 : few.length);
        changed[index < 0 ? few.length : index] = value;
        children = changed;
    }

    /** Removes the child for a level, which must exist. */
    void removeChild(int levelHash, String filter, int from, int to) {
        Object found = children;
        if (found instanceof LevelTable table) {
            table.remove(levelHash, filter, from, to);
            if (table.size() <= TABLE_BECOMES_ARRAY) {
                children = table.toArray();
            }
        } else if (found instanceof Object[] few) {
            int index = indexOf(few, filter, from, to);
            Object[] fewer = Arrays.copyOf(few, few.length - 1);
            System.arraycopy(few, index + 1, fewer, index, fewer.length - index);
            children = fewer.length == 1 ? fewer[0] : fewer;
        } else {
            children = null;
        }
    }

    /** Adds the leaf of a filter that continues below this node, which is still empty. */
    void place(Object leaf) {
        String filter = FilterEntry.text(leaf);
        char first = childStart < filter.length() ? filter.charAt(childStart) : 0;
        if (childStart > filter.length()) {
            here = leaf;
        } else if (first == '#') {
            hash = leaf;
        } else if (first == '+') {
            plus = leaf;
        } else {
            children = leaf;
        }
    }

    boolean isEmpty() {
        return here == null && plus == null && hash == null && children == null;
    }

    /** The only leaf below this node; null if there are more, or a node. */
    @Nullable
    Object soleLeaf() {
        Object below = children;
        int filled = (here == null ? 0 : 1) + (plus == null ? 0 : 1) + (hash == null ? 0 : 1) + (below == null ? 0 : 1);
        if (filled != 1) {
            return null;
        }
        Object sole = here != null ? here : plus != null ? plus : hash != null ? hash : below;
        return sole instanceof Subscription || sole instanceof FilterEntry ? sole : null;
    }

    /** Calls an action with each leaf and each child node of this node. */
    void forEach(Consumer<Object> action) {
        accept(here, action);
        accept(plus, action);
        accept(hash, action);
        Object below = children;
        if (below instanceof LevelTable table) {
            table.forEach(action);
        } else if (below instanceof Object[] few) {
            for (Object child : few) {
                action.accept(child);
            }
        } else {
            accept(below, action);
        }
    }

    private static void accept(@Nullable Object value, Consumer<Object> action) {
        if (value != null) {
            action.accept(value);
        }
    }

    private int indexOf(Object[] few, String topic, int from, int to) {
        for (int i = 0; i < few.length; i++) {
            if (isKey(few[i], childStart, topic, from, to)) {
                return i;
            }
        }
        return -1;
    }

    private int levelHash(Object child) {
        if (child instanceof TrieNode node) {
            return LevelHash.of(node.text, childStart, node.childStart - 1);
        }
        String filter = FilterEntry.text(child);
        int separator = filter.indexOf(TopicLevels.SEPARATOR, childStart);
        return LevelHash.of(filter, childStart, separator < 0 ? filter.length() : separator);
    }

    /** Whether the level of a leaf or node that starts at {@code start} is {@code topic[from, to)}. */
    static boolean isKey(Object leafOrNode, int start, String topic, int from, int to) {
        int length = to - from;
        int end = start + length;
        if (leafOrNode instanceof TrieNode node) {
            return node.childStart - 1 == end && node.text.regionMatches(start, topic, from, length);
        }
        String filter = FilterEntry.text(leafOrNode);
        boolean ends = filter.length() == end || (filter.length() > end && filter.charAt(end) == TopicLevels.SEPARATOR);
        return ends && filter.regionMatches(start, topic, from, length);
    }
}
