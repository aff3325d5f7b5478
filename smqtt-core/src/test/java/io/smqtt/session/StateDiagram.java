// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The state diagrams of docs/architecture.md. */
final class StateDiagram {

    private static final Path DOCUMENT = Path.of("..", "docs", "architecture.md");
    private static final Pattern ARROW = Pattern.compile("(?m)^ +([A-Z_]+) --> ([A-Z_]+)");

    private StateDiagram() {}

    /** The transitions that the diagram below a heading has, each as two states with a space between. */
    static Set<String> transitions(String heading) throws IOException {
        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf("\n## " + heading + '\n');
        int end = document.indexOf("\n## ", begin + 1);
        Set<String> drawn = new TreeSet<>();
        ARROW.matcher(document.substring(begin, end))
                .results()
                .forEach(line -> drawn.add(line.group(1) + " " + line.group(2)));
        return drawn;
    }
}
