// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sorts problems by file and line, as an editor goes through them. */
final class ProblemOrder {

    private static final Pattern PLACE = Pattern.compile("((?:(?!: ).)+?):([0-9]{1,9}): .*", Pattern.DOTALL);

    private ProblemOrder() {}

    /**
     * A problem and the place in front of it.
     *
     * @param file the position of its file among the files; after all of them where it has none
     * @param line the line
     * @param text the problem
     */
    private record Placed(int file, int line, String text) {}

    /**
     * Sorts problems.
     *
     * @param problems one sentence each, {@code file:line: } in front where the place is known
     * @return those with a place first: files as they are met, each in the order of its lines; the others as they were
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
