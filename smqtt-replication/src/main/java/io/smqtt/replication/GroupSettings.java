// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A group as one of its members sees it.
 *
 * @param name the name of the group, the same on all members
 * @param number the number of the group in messages, 0 to {@value #MAXIMUM_NUMBER}, the same on all members
 * @param self the name of this member
 * @param members the names of all members, this one included
 * @param home the member that leads whenever it is there and has all entries, or null if it does not matter; the same on all members
 * @param directory the directory of the group on this member: log, state, and checkpoints under way
 * @param maxEntries the maximum number of entries that wait for a majority
 * @param maxBytes the maximum bytes of these entries
 * @param log limits of the log
 */
record GroupSettings(
        String name,
        int number,
        String self,
        Set<String> members,
        @Nullable String home,
        Path directory,
        int maxEntries,
        long maxBytes,
        LogLimits log) {

    /** The largest number of a group. */
    static final int MAXIMUM_NUMBER = 31;

    GroupSettings {
        members = Set.copyOf(members);
        if (!members.contains(self)) {
            throw new IllegalArgumentException(
                    self + " is not a member of the group " + name + ", " + members + " are");
        }
        if (home != null && !members.contains(home)) {
            throw new IllegalArgumentException(
                    "the home " + home + " of the group " + name + " is not one of its members " + members);
        }
        if (number < 0 || number > MAXIMUM_NUMBER) {
            throw new IllegalArgumentException("a group with the number " + number);
        }
    }

    /** Whether this member is the home. */
    boolean isHome() {
        return self.equals(home);
    }
}
