// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Columns of lists of objects that have a state on each node, such as bridges and sources. */
final class NodeStatus {

    private NodeStatus() {}

    /** A column with one of the counts of an object. */
    static Column count(String name) {
        return new Column(
                name.toUpperCase(Locale.ROOT),
                one -> TextTable.shown(one.path("metrics").path(name)));
    }

    /** The nodes of an object, each with its state unless that is the usual one. */
    static String nodes(JsonNode object, String usual) {
        List<String> states = new ArrayList<>();
        for (JsonNode node : object.path("node_status")) {
            String status = node.path("status").asText();
            states.add(TextTable.shown(node.path("node"))
                    + (status.equals(usual) ? "" : " (" + TextTable.shown(node.path("status")) + ")"));
        }
        return String.join(", ", states);
    }

    /** The reason that the first node with a state gives for it; empty if no node has that state. */
    static String reason(JsonNode object, String state) {
        for (JsonNode node : object.path("node_status")) {
            if (node.path("status").asText().equals(state)) {
                return TextTable.shown(node.path("status_reason"));
            }
        }
        return "";
    }
}
