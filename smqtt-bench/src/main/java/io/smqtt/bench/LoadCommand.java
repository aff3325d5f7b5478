// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The base of the load commands: common flags and exit codes. */
abstract class LoadCommand implements Callable<Integer> {

    final PrintStream out;
    final PrintStream err;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    ConnectionOptions connection = new ConnectionOptions();

    @Mixin
    RunOptions run = new RunOptions();

    final Interruption interruption;

    LoadCommand(PrintStream out, PrintStream err, Interruption interruption) {
        this.out = out;
        this.err = err;
        this.interruption = interruption;
    }

    /** Checks the flags and runs the load; null if there was nothing to run. */
    abstract @Nullable LoadResult load(Watch watch);

    /** The sampling interval of this kind of run. */
    Duration sampleEvery() {
        return Watch.USUAL_SAMPLE;
    }

    @Override
    public final Integer call() {
        Progress progress = run.progress(err);
        interruption.watch();
        try {
            LoadResult result;
            try {
                result = load(new Watch(progress, run.pid, interruption, sampleEvery()));
            } finally {
                progress.end();
            }
            return result == null ? 0 : run.report(result, out, err);
        } catch (LoadFailure e) {
            err.println("smqtt bench: " + e.getMessage());
            return 1;
        } catch (WrongUsage e) {
            if (spec == null) {
                throw e;
            }
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        } finally {
            interruption.release();
        }
    }

    /** Runs a plan of one step. */
    LoadResult runPlan(Plan plan, Target target, LoadSettings settings, Watch watch, boolean tolerant) {
        run.require(plan.clients().size());
        try (LoadEngine engine = new LoadEngine(run.threads)) {
            return new LoadRun(engine, plan, target, settings, watch).run(connection.arrivalNanos(), tolerant);
        }
    }

    /** Settings for clients that send nothing. */
    LoadSettings receiving(int qos, long limit) {
        return new LoadSettings(qos, 0, false, List.of(), 0, 0, 1, limit, Duration.ZERO, run.duration, run.drain);
    }
}
