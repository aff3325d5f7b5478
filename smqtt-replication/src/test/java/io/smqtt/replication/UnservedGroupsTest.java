// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** On which side of a partition a session may begin. */
class UnservedGroupsTest {

    private static ReplicaPlan plan(String self, int nodes) {
        SortedMap<String, String> addresses = new TreeMap<>();
        for (int i = 0; i < nodes; i++) {
            addresses.put(Character.toString('a' + i), "127.0.0.1:" + (1 + i));
        }
        return new ReplicaPlan(self, addresses, 3);
    }

    private static UnservedGroups groups(ReplicaPlan plan) {
        return new UnservedGroups(plan, new TreeMap<>(), home -> false, place -> place);
    }

    private static @Nullable String refusal(int nodes, Set<String> reached) {
        return groups(plan("a", nodes)).refusal(reached);
    }

    @ParameterizedTest
    @CsvSource({"3, a", "3, front-1 front-2", "4, b", "5, b", "5, a b front-1", "6, b c", "7, a b c"})
    void noneBeginsOnTheSmallerSide(int nodes, String reached) {
        Set<String> names = Set.of(reached.split(" "));
        long there = names.stream()
                        .filter(name -> name.length() == 1 && !name.equals("a"))
                        .count()
                + 1;

        assertThat(refusal(nodes, names))
                .startsWith("this node reaches " + there + " of the " + nodes + " nodes of cluster.nodes");
    }

    @ParameterizedTest
    @CsvSource({"3, b", "4, b c", "5, b c", "5, a d e", "6, b c d", "7, b c d"})
    void theyBeginOnTheLargerOne(int nodes, String reached) {
        assertThat(refusal(nodes, Set.of(reached.split(" ")))).isNull();
    }

    @Test
    void theLogSaysWhichStoresAreOutOfSight() {
        ReplicaPlan all = plan("a", 7);
        String home = all.addresses().keySet().stream()
                .filter(name -> !all.membersOf(name).contains("a"))
                .findFirst()
                .orElseThrow();
        Set<String> reached = new HashSet<>(all.addresses().keySet());
        reached.removeAll(all.membersOf(home));
        List<String> hidden = all.addresses().keySet().stream()
                .filter(name -> Collections.disjoint(all.membersOf(name), reached))
                .toList();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(UnservedGroups.class);
        log.start();
        logger.addAppender(log);
        try {
            assertThat(groups(all).refusal(reached)).isNull();
        } finally {
            logger.detachAppender(log);
        }
        assertThat(List.copyOf(log.list))
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains(
                        "no node with a replica of " + hidden
                                + " is reached: clients whose sessions are there begin new ones, which are merged later; 1 claims so far");
    }
}
