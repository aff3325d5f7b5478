// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

/** A hash table of the positions of subscribers in a long {@link MemberList}. Only the writer uses it. */
final class MemberPositions {

    /** Position plus one; 0 is empty. The length is a power of two, and at most half of the slots are in use. */
    private int[] table;

    private int used;

    MemberPositions(Object[] members) {
        table = new int[0];
        rebuild(members, MemberList.size(members));
    }

    int indexOf(Object[] members, Subscriber subscriber) {
        int at = slotOf(subscriber);
        while (table[at] != 0) {
            if (subscriber(members, at) == subscriber) {
                return table[at] - 1;
            }
            at = next(at);
        }
        return -1;
    }

    /** Adds the member at an index, which has just been appended. */
    void add(Object[] members, int index) {
        if ((used + 1) * 2 > table.length) {
            rebuild(members, index + 1);
        } else {
            insert(members, index);
        }
    }

    /** Removes the member at an index; the members are those before the removal. */
    void remove(Object[] members, int index) {
        int hole = find(members, index);
        table[hole] = 0;
        used--;
        for (int at = next(hole); table[at] != 0; at = next(at)) {
            int home = slotOf(subscriber(members, at));
            if (((at - home) & (table.length - 1)) >= ((at - hole) & (table.length - 1))) {
                table[hole] = table[at];
                table[at] = 0;
                hole = at;
            }
        }
    }

    /** Moves the member at one index to another; the members are those before the move. */
    void move(Object[] members, int from, int to) {
        table[find(members, from)] = to + 1;
    }

    private int find(Object[] members, int index) {
        int at = slotOf(MemberList.get(members, index).subscriber());
        while (table[at] != index + 1) {
            at = next(at);
        }
        return at;
    }

    private void rebuild(Object[] members, int size) {
        table = new int[Integer.highestOneBit(Math.max(size, 8)) * 4];
        used = 0;
        for (int i = 0; i < size; i++) {
            insert(members, i);
        }
    }

    private void insert(Object[] members, int index) {
        int at = slotOf(MemberList.get(members, index).subscriber());
        while (table[at] != 0) {
            at = next(at);
        }
        table[at] = index + 1;
        used++;
    }

    private Subscriber subscriber(Object[] members, int at) {
        return MemberList.get(members, table[at] - 1).subscriber();
    }

    private int slotOf(Subscriber subscriber) {
        int hash = System.identityHashCode(subscriber) * 0x9E3779B9;
        return (hash ^ hash >>> 15) & (table.length - 1);
    }

    private int next(int at) {
        return (at + 1) & (table.length - 1);
    }
}
