// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A replicated store with one member keeps the promises of every store. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class OneMemberStoreTest extends ReplicatedStoreContract {

    OneMemberStoreTest() {
        super(Set.of("a"));
    }
}
