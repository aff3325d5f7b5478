// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * The members of a group by their names. A channel connects more nodes than one group has, so a group sees of each view only the part that
 * is its own.
 *
 * @param names the names of all members, present or not
 */
record GroupMembers(Set<String> names) {

    GroupMembers {
        names = Set.copyOf(names);
    }

    /** The view without the nodes that are not members. */
    View in(View view) {
        List<Address> present = Arrays.stream(view.getMembersRaw())
                .filter(address -> {
                    String name = nameOf(address);
                    return name != null && names.contains(name);
                })
                .toList();
        return new View(view.getViewId(), present);
    }

    /** The address of a member in a view, or null if it is not there. */
    static @Nullable Address find(@Nullable View view, @Nullable String name) {
        if (view == null || name == null) {
            return null;
        }
        for (Address address : view.getMembersRaw()) {
            if (name.equals(nameOf(address))) {
                return address;
            }
        }
        return null;
    }

    /** The name of a node, or null if it has no part in replication. */
    static @Nullable String nameOf(@Nullable Address address) {
        byte[] name = address instanceof ExtendedUUID node ? node.get(RAFT.raft_id_key) : null;
        return name == null ? null : Util.bytesToString(name);
    }
}
