// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.Set;

/** The nodes whose sessions this one serves, for the messages of one peer. */
@OnClusterLoop
interface AdoptedHomes {

    /** Whether this node serves the sessions of another one. */
    boolean serves(String home);

    /** The nodes whose sessions this one has served for long, and of which the peer has not heard that: it has come later, and names none of them. */
    Set<String> unknown();
}
