// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths of the payload that a rule needs, as a tree. {@link #pull} takes their values from a stream of tokens and skips everything else;
 * the rest of the document is read, so that a rule fails for text that is not JSON whatever its paths are.
 */
final class PulledPaths {

    private final Node root = new Node("", 0);
    private int slots;
    private boolean wholeNeeded;

    /** A key or an index from 1, the slot of its value or -1, and what is wanted below it. */
    private static final class Node {

        private final String key;
        private final long index;
        private final List<Node> children = new ArrayList<>(2);
        private int slot = -1;

        Node(String key, long index) {
            this.key = key;
            this.index = index;
        }

        Node child(Object step) {
            for (Node child : children) {
                if (step instanceof Long at ? child.index == at : child.index == 0 && child.key.equals(step)) {
                    return child;
                }
            }
            Node child = step instanceof Long at ? new Node("", at) : new Node((String) step, 0);
            children.add(child);
            return child;
        }
    }

    /**
     * Adds a path.
     *
     * @param steps {@code String}s and positive {@code Long}s, at least one
     * @return its slot
     */
    int add(List<Object> steps) {
        Node node = root;
        for (Object step : steps) {
            node = node.child(step);
        }
        if (node.slot < 0) {
            node.slot = slots++;
        }
        return node.slot;
    }

    /** Notes that the rule needs the whole document besides. */
    void needWhole() {
        wholeNeeded = true;
    }

    boolean isWholeNeeded() {
        return wholeNeeded;
    }

    /** The values in a document that has been read. */
    @Nullable
    Object[] pick(@Nullable Object tree, Meter meter) {
        @Nullable Object[] values = new Object[slots];
        pick(root, tree, values, meter);
        return values;
    }

    private static void pick(Node node, @Nullable Object value, @Nullable Object[] values, Meter meter) {
        if (node.slot >= 0) {
            values[node.slot] = value;
        }
        if (value == null) {
            return;
        }
        for (Node child : node.children) {
            Object below =
                    child.index > 0 ? Paths.index(value, child.index, meter) : Paths.key(value, child.key, meter);
            pick(child, below, values, meter);
        }
    }

    /**
     * The values in a document that has not been read.
     *
     * @param source text or bytes
     * @param what how the source is called if it is not JSON
     */
    @Nullable
    Object[] pull(Object source, String what, Meter meter) {
        @Nullable Object[] values = new Object[slots];
        try (JsonParser parser = Json.parser(source)) {
            JsonToken token = parser.nextToken();
            if (token == null) {
                throw new RuleFailure(what + " is empty, not JSON");
            }
            pull(root, parser, token, values, meter);
            Json.end(parser);
        } catch (IOException e) {
            throw Json.notJson(what, e);
        }
        return values;
    }

    private static void pull(Node node, JsonParser parser, JsonToken token, @Nullable Object[] values, Meter meter)
            throws IOException {
        if (node.slot >= 0 || !token.isStructStart()) {
            pick(node, Values.element(Json.value(parser, token)), values, meter);
        } else if (token == JsonToken.START_OBJECT) {
            for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
                JsonToken next = parser.nextToken();
                Node child = find(node, name);
                if (child == null) {
                    parser.skipChildren();
                } else {
                    forget(child, values);
                    pull(child, parser, next, values, meter);
                }
            }
        } else {
            long index = 1;
            for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                Node child = find(node, index++);
                if (child == null) {
                    parser.skipChildren();
                } else {
                    pull(child, parser, next, values, meter);
                }
            }
        }
    }

    /** Of equal keys the last one counts. */
    private static void forget(Node node, @Nullable Object[] values) {
        if (node.slot >= 0) {
            values[node.slot] = null;
        }
        for (Node child : node.children) {
            forget(child, values);
        }
    }

    private static @Nullable Node find(Node node, String key) {
        for (Node child : node.children) {
            if (child.index == 0 && child.key.equals(key)) {
                return child;
            }
        }
        return null;
    }

    private static @Nullable Node find(Node node, long index) {
        for (Node child : node.children) {
            if (child.index == index) {
                return child;
            }
        }
        return null;
    }

    /** Whether the step can be found in a stream. An index from the end cannot. */
    static boolean isPullable(Object step) {
        return step instanceof String || step instanceof Long index && index > 0;
    }
}
