// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sorts problems by file and line. */
final class ProblemOrder {

    private static final Pattern PLACE = Pattern.compile("((?:(?!: ).)+?):([0-9]{1,9}): .*", Pattern.DOTALL);

    private ProblemOrder() {}

    /**
     * A problem with the place at its beginning.
     *
     * @param file the position of its file among the files; after all files if it has none
     * @param line the line
     * @param text the problem
     */
    private record Placed(int file, int line, String text) {}

    /**
     * Sorts problems by file and line.
     *
     * @param problems one sentence each, with {@code file:line: } in front if the place is known
     * @return problems with a place first, by file in the order of appearance and by line; the others in their order
     */
    static List<String> byLine(List<String> problems) {
        List<String> files = new ArrayList<>();
        List<Placed> placed = new ArrayList<>();
        for (String problem : problems) {
            Matcher place = PLACE.matcher(problem);
            if (place.matches()) {
                if (!files.contains(place.group(1))) {
                    files.add(place.group(1));
                }
                placed.add(new Placed(files.indexOf(place.group(1)), Integer.parseInt(place.group(2)), problem));
            } else {
                placed.add(new Placed(Integer.MAX_VALUE, 0, problem));
            }
        }
        placed.sort(Comparator.comparingInt(Placed::file).thenComparingInt(Placed::line));
        return placed.stream().map(Placed::text).toList();
    }
}
