// SPDX-License-Identifier: Apache-2.0
package io.smqtt.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class ThreadConfinementTest {

    @Test
    void noMethodOfTheCoreLeavesItsThread() {
        JavaClasses core = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackagesOf(io.smqtt.Broker.class);

        assertThat(ThreadConfinement.annotated(core)).isGreaterThan(500);
        assertThat(ThreadConfinement.violations(core)).isEmpty();
    }

    @Test
    void aCallFromAnyThreadToAnEventLoopIsFound() {
        JavaClasses offender = new ClassFileImporter().importClasses(Offender.class, Owned.class);

        assertThat(ThreadConfinement.violations(offender))
                .hasSize(2)
                .anySatisfy(line -> assertThat(line).contains("Offender.direct()"))
                .anySatisfy(line -> assertThat(line).contains("Offender.byAHelper()"));
    }

    /** What is called on the event loop. */
    @OnEventLoop
    static final class Owned {

        private int count;

        void add() {
            count++;
        }

        @AnyThread
        boolean isOwned() {
            return true;
        }

        int count() {
            return count;
        }
    }

    /** Calls it rightly and wrongly. */
    @AnyThread
    static final class Offender {

        private final Owned owned = new Owned();

        void direct() {
            owned.add();
        }

        void byAHelper() {
            help();
        }

        private void help() {
            owned.add();
        }

        boolean rightly(Executor loop) {
            loop.execute(() -> owned.add());
            return owned.isOwned();
        }
    }
}
