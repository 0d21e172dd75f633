//! Functions of the Java virtual machine and the class library. Source: OpenJDK 21's src/hotspot/share (gc/, runtime/,
//! opto/, c1/), java.base, and the libraries' documentation. Names are written with dots (`java.util.HashMap.get`).

use super::CostKind::*;
use super::Role::{self, *};
use super::lists::{Group, Names};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The list.
pub(super) static LIST: &[Group] = &[
    // gc/shared, gc/g1, gc/parallel, gc/serial, gc/z, gc/shenandoah.
    (
        Overrides(GarbageCollection),
        &[
            "GCTaskThread::*",
            "GangWorker::*",
            "WorkerThread::run",
            "ConcurrentGCThread::*",
            "ConcurrentG1RefineThread::*",
            "G1ConcurrentRefineThread::*",
            "G1ServiceThread::*",
            "ConcurrentMarkThread::*",
            "ConcurrentMarkSweepThread::*",
            "G1*",
            "PSPromotionManager::*",
            "PSScavenge::*",
            "PSParallelCompact*",
            "ParallelScavengeHeap::*",
            "VM_GenCollect*",
            "VM_G1*",
            "VM_ParallelGC*",
            "GenCollectedHeap::*",
            "DefNewGeneration::*",
            "StealTask::*",
            "OldToYoungRootsTask::*",
            "ScavengeRootsTask::*",
            "ZCollectedHeap::*",
            "ZDriver*",
            "ZWorker*",
            "ZMark::*",
            "ZRelocat*",
            "Shenandoah*",
            "ParNewGeneration::*",
            "CMSCollector::*",
            "GC_active",
            "Reference Handler",
        ],
    ),
    // opto/, c1/, compiler/compileBroker.cpp, interpreter/linkResolver.cpp; loading and making classes.
    (
        Overrides(Compilation),
        &[
            "CompileBroker::*",
            "C2Compiler::*",
            "Compiler::compile_method",
            "Compile::*",
            "Compilation::*",
            "PhaseChaitin::*",
            "PhaseIdealLoop::*",
        ],
    ),
    (
        Purpose(Compilation),
        &[
            "java.lang.ClassLoader.*",
            "java.net.URLClassLoader.*",
            "jdk.internal.loader.*",
            "sun.misc.Launcher$*",
            "java.lang.Class.forName*",
            "java.lang.invoke.*",
            "SystemDictionary::*",
            "ClassFileParser::*",
            "LinkResolver::*",
        ],
    ),
    // Threads of a pool without work; event loops without events.
    (
        Overrides(Idle),
        &[
            "java.util.concurrent.ThreadPoolExecutor.getTask",
            "java.util.concurrent.ForkJoinPool.awaitWork",
            "java.util.concurrent.ForkJoinPool.idleAwaitWork",
            "sun.nio.ch.EPollArrayWrapper.epollWait",
            "sun.nio.ch.EPoll.wait",
            "sun.nio.ch.KQueue.poll",
            "sun.nio.ch.KQueueArrayWrapper.kevent0",
            "io.netty.channel.epoll.Native.epollWait*",
            "sun.nio.ch.PollArrayWrapper.poll*",
            "sun.nio.ch.DevPollArrayWrapper.poll*",
            "java.net.PlainSocketImpl.socketAccept",
            "sun.nio.ch.Net.accept",
            "sun.nio.ch.ServerSocketChannelImpl.accept*",
            "java.lang.ref.Reference.waitForReferencePendingList",
            "java.lang.ref.ReferenceQueue.remove*",
            "java.util.TimerThread.mainLoop",
            "org.apache.tomcat.util.threads.TaskQueue.*",
            "java.lang.Thread.sleep*",
        ],
    ),
    (
        Mechanism(Locking),
        &[
            "java.util.concurrent.locks.*",
            "jdk.internal.misc.Unsafe.park",
            "sun.misc.Unsafe.park",
            "java.lang.Object.wait*",
            "ObjectMonitor::*",
            "ObjectSynchronizer::*",
            "os::PlatformEvent::*",
            "Parker::*",
            "Unsafe_Park",
            "Monitor::*",
            "Mutex::*",
            "java.util.concurrent.Semaphore.*",
            "java.util.concurrent.CountDownLatch.*",
        ],
    ),
    (
        Weak(Scheduling),
        &[
            "SafepointSynchronize::*",
            "java.lang.Thread.yield*",
            "java.util.concurrent.ForkJoinPool.*",
            "VMThread::*",
        ],
    ),
    (
        Mechanism(Allocation),
        &[
            "MemAllocator::*",
            "InstanceKlass::allocate_instance*",
            "TypeArrayKlass::allocate*",
            "ObjArrayKlass::allocate*",
            "CollectedHeap::*",
            "OptoRuntime::new_instance_C",
            "OptoRuntime::new_array_C",
            "OptoRuntime::new_array_nozero_C",
            "Runtime1::new_*",
            "InterpreterRuntime::_new",
            "ThreadLocalAllocBuffer::*",
        ],
    ),
    (
        Mechanism(SystemCall),
        &[
            "java.net.SocketInputStream.socketRead*",
            "java.net.SocketOutputStream.socketWrite*",
            "java.io.FileInputStream.read*",
            "java.io.FileOutputStream.write*",
            "java.io.RandomAccessFile.*",
            "sun.nio.ch.FileDispatcherImpl.*",
            "sun.nio.ch.SocketDispatcher.*",
            "sun.nio.ch.NioSocketImpl.*",
            "sun.nio.ch.Net.*",
            "java.io.UnixFileSystem.*",
            "sun.nio.fs.UnixNativeDispatcher.*",
        ],
    ),
    (
        Weak(Copying),
        &[
            "java.lang.System.arraycopy",
            "java.util.Arrays.copyOf*",
            "*jbyte_disjoint_arraycopy",
            "*jint_disjoint_arraycopy",
            "*jlong_disjoint_arraycopy",
            "*jshort_disjoint_arraycopy",
            "jbyte_arraycopy",
            "jshort_arraycopy",
            "arrayof_*",
            "java.nio.Bits.copy*",
        ],
    ),
    (
        Purpose(TextParsing),
        &[
            "java.lang.String.split*",
            "java.util.StringTokenizer.*",
            "java.util.Scanner.*",
            "java.lang.Integer.parse*",
            "java.lang.Long.parse*",
            "java.lang.Double.parse*",
            "jdk.internal.math.FloatingDecimal.readJavaFormatString",
            "java.math.BigDecimal.<init>",
            "java.io.BufferedReader.readLine",
            "java.text.SimpleDateFormat.parse*",
            "java.time.format.DateTimeFormatter.parse*",
            "java.net.URI.*",
            "java.net.URLDecoder.*",
            "org.apache.commons.csv.*",
            "org.apache.tomcat.util.http.parser.*",
            "io.netty.handler.codec.http.HttpObjectDecoder*",
        ],
    ),
    (
        Weak(TextParsing),
        &[
            "java.lang.String.*",
            "java.lang.StringLatin1.*",
            "java.lang.StringUTF16.*",
            "java.lang.Character.*",
            "sun.nio.cs.*",
            "java.lang.StringCoding.*",
        ],
    ),
    (
        Purpose(Formatting),
        &[
            "java.lang.StringBuilder.*",
            "java.lang.StringBuffer.*",
            "java.lang.AbstractStringBuilder.*",
            "java.lang.StringConcatHelper.*",
            "java.util.Formatter*",
            "java.lang.String.format",
            "java.text.*",
            "java.time.format.*",
            "java.lang.Integer.toString",
            "java.lang.Long.toString",
            "ch.qos.logback.*",
            "org.apache.logging.log4j.*",
            "org.apache.log4j.*",
            "java.util.logging.*",
        ],
    ),
    (
        Purpose(Serialization),
        &[
            "com.fasterxml.jackson.*",
            "com.google.gson.*",
            "com.alibaba.fastjson*",
            "java.io.ObjectInputStream*",
            "java.io.ObjectOutputStream*",
            "com.google.protobuf.*",
            "com.esotericsoftware.kryo.*",
            "org.apache.avro.*",
            "org.apache.thrift.*",
            "com.sun.org.apache.xerces.*",
            "com.sun.xml.*",
            "javax.xml.*",
            "org.yaml.snakeyaml.*",
            "java.util.Base64$*",
            "org.json.*",
        ],
    ),
    (
        Purpose(Compression),
        &[
            "java.util.zip.*",
            "java.util.jar.*",
            "org.xerial.snappy.*",
            "net.jpountz.*",
            "com.github.luben.zstd.*",
        ],
    ),
    (
        Purpose(Crypto),
        &[
            "javax.crypto.*",
            "com.sun.crypto.*",
            "sun.security.*",
            "java.security.*",
            "javax.net.ssl.*",
            "java.math.BigInteger.*",
            "org.bouncycastle.*",
        ],
    ),
    (Purpose(Regex), &["java.util.regex.*", "com.google.re2j.*"]),
    (
        Weak(Hashing),
        &[
            "java.util.HashMap*",
            "java.util.LinkedHashMap*",
            "java.util.HashSet*",
            "java.util.concurrent.ConcurrentHashMap*",
            "java.util.Hashtable*",
            "java.lang.String.hashCode",
            "java.util.WeakHashMap*",
        ],
    ),
    (
        Purpose(Sorting),
        &[
            "java.util.TimSort*",
            "java.util.ComparableTimSort*",
            "java.util.DualPivotQuicksort*",
            "java.util.Arrays.sort",
            "java.util.Collections.sort",
        ],
    ),
    (
        Plumbing,
        &[
            "java.*",
            "javax.*",
            "jdk.*",
            "sun.*",
            "com.sun.*",
            "kotlin.*",
            "scala.*",
            "JavaCalls::*",
            "JavaThread::*",
            "Thread::*",
            "java_start",
            "thread_entry",
            "thread_native_entry",
            "call_stub*",
            "CallStub",
            "jni_*",
            "Java_*",
            "Unsafe_*",
            "SharedRuntime::*",
            "OptoRuntime::*",
            "InterpreterRuntime::*",
            "Interpreter*",
            "itable stub*",
            "vtable stub*",
            "I2C/C2I adapters*",
            "MemoryPool*",
            "Klass*",
        ],
    ),
];

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::of(&[LIST]));

/// Java's names come as `java.util.HashMap.get`, `java/util/HashMap.get`, `Ljava/util/HashMap;::get` (perf maps) and
/// `java/util/HashMap:.get` (older ones); HotSpot's own as C++.
pub(super) fn role(name: &str) -> Option<Role> {
    let dotted: Cow<'_, str> = match name.contains('/') || name.contains(";::") {
        true => {
            let name = name.strip_prefix('L').filter(|name| name.contains(';')).unwrap_or(name);
            name.replace(";::", ".").replace(":.", ".").replace('/', ".").into()
        }
        false => name.into(),
    };
    let without_arguments = dotted.split('(').next().unwrap_or(&dotted);
    NAMES.role(without_arguments).or_else(|| {
        let is_java = !name.contains("::") || name.contains(";::");
        (is_java && without_arguments.contains('.')).then_some(Own)
    })
}
