// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A path with parameters, each one segment. Immutable.
 *
 * @param segments the literal texts, or a name in braces
 */
record PathTemplate(List<String> segments) implements Comparable<PathTemplate> {

    static PathTemplate of(String template) {
        if (!template.startsWith("/")) {
            throw new IllegalArgumentException("the template " + template + " must begin with /");
        }
        return new PathTemplate(split(template));
    }

    /** Divides a path into its segments, not decoded. */
    static List<String> split(String path) {
        return Arrays.asList(path.substring(1).split("/", -1));
    }

    private static boolean isParameter(String segment) {
        return segment.startsWith("{") && segment.endsWith("}");
    }

    /**
     * Compares a path with the template.
     *
     * @param path the segments, not decoded
     * @return the decoded parameters; null if it is another path
     * @throws ProblemException if a parameter is not encoded correctly
     */
    @Nullable
    Map<String, String> match(List<String> path) {
        if (path.size() != segments.size()) {
            return null;
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < path.size(); i++) {
            String segment = segments.get(i);
            if (!isParameter(segment) && !segment.equals(path.get(i))) {
                return null;
            }
        }
        for (int i = 0; i < path.size(); i++) {
            String segment = segments.get(i);
            if (isParameter(segment)) {
                parameters.put(segment.substring(1, segment.length() - 1), decoded(path.get(i)));
            }
        }
        return parameters;
    }

    private static String decoded(String segment) {
        try {
            return QueryStringDecoder.decodeComponent(segment.replace("+", "%2B"));
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest("the path is not encoded correctly").exception();
        }
    }

    /** Sorts templates with literal segments before those with parameters. */
    @Override
    public int compareTo(PathTemplate other) {
        return order().compareTo(other.order());
    }

    private String order() {
        List<String> kinds = new ArrayList<>();
        segments.forEach(segment -> kinds.add(isParameter(segment) ? "1" : "0" + segment));
        return String.join("/", kinds);
    }
}
